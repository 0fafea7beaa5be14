provider flt { probe go(double, int); probe stop(long double x, int y) : (int y, long double x); };
flt1:::go { printf("%f %d", args[0], args[1]); trace(args[0]); @[args[0]] = count(); }
flt1:::stop { trace(args[0]); trace(args[1]); }
flt1:::go { trace(args[0] + 1); }
flt1:::go { trace((int)args[0]); }
