provider p { probe one(int); probe two(char *); probe three(int); };
p1:::one, p1:::three { trace(args[0]); }
p1::: { trace(args[0]); }
