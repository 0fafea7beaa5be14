/* A fault ends its clause and fires ERROR; the other clauses go on. */
BEGIN { zero = 0; printf("lost"); trace(7 / zero); printf("not reached"); }
BEGIN { trace(copyinstr(0)); }
BEGIN { printf("second clause"); }
BEGIN { exit(0); }
ERROR { printf("fault %d value %d", arg4, arg5); }
