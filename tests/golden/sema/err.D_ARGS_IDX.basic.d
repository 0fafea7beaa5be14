provider p { probe one(int); probe many(int, int, int, int, int, int, int, int, int, int, int); };
p1:::one { trace(args[1]); }
p1:::many { trace(args[10]); }
p1:::one { trace(args[1]); trace(args[2]); trace(args[1]); }
