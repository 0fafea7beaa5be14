/*
 * ASSERTION: option droptags names the kind of each drop.
 * SECTION: Options/droptags
 */
#pragma D option quiet
#pragma D option droptags
#pragma D option bufsize=24

BEGIN { printf("%d\n", 1); }
BEGIN { printf("%d\n", 2); }
BEGIN { exit(0); }
tick-10ms { exit(0); }
