/* chill() waits at least so long, and no more than half a second in each second: what goes beyond is an illegal operation. */
#pragma D option quiet
#pragma D option destructive
BEGIN { this->begin = timestamp; chill(100000000); printf("chilled\n"); }
BEGIN { chill(450000000); printf("not reached\n"); }
BEGIN { chill(0 - 1); printf("not reached\n"); }
BEGIN { chill(0); printf("for nothing\n"); }
BEGIN { exit(0); }
ERROR { printf("fault %d in action %d\n", arg4, arg2); }
