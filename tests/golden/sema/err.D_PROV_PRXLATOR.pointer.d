struct out { int size; };
translator struct out < int i > { size = i; };
provider disk { probe one(int b) : (struct out *b); probe two(char *b) : (string b); probe three(int b) : (long b); };
provider tape { probe one(int b) : (char *b); };
provider card { probe one(char *b) : (int b); };
