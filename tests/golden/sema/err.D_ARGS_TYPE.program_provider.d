/* @program */
bad1:::sold { trace(args[0]); }
