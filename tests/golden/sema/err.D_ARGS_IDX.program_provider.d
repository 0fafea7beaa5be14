/* @program: only declarations of providers count. */
hostile1:::sold { trace(args[0]); }
