/* 0 is a string, whose use is a fault. */
#pragma D option quiet
BEGIN { printf("%u\n", NULL); trace(strlen(0)); exit(1); }
BEGIN { trace(substr(0, 2, 3)); exit(1); }
BEGIN { exit(0); }
ERROR { printf("fault %d %d\n", arg4, arg5); }
