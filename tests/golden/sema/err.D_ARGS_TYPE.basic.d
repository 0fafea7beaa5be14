provider p { probe one(int); };
p1:::one { trace(args[arg0]); }
