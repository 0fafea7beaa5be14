/* Remainder by zero, and the smallest number divided by -1, which is no fault. */
#pragma D option quiet

int64_t least;
int64_t minus;

BEGIN { least = 1; least <<= 63; minus = -1; printf("%d %d\n", least / minus == least, least % minus); }
BEGIN { zero = 0; printf("%d\n", 5 % zero); }
BEGIN { exit(0); }
