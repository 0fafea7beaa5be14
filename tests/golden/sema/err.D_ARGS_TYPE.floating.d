provider flt { probe go(double, int); probe stop(float x, int y) : (int y, float x); };
flt1:::go { trace(args[1]); printf("%f", args[0]); }
flt1:::stop { trace(args[0]); trace(args[1]); }
