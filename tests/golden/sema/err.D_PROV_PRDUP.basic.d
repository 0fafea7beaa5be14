provider disk { probe one__two(int); probe three(); probe one__two(int); };
