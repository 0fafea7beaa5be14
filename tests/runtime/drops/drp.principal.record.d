/*
 * ASSERTION: under policy switch, a record that finds no room is a drop on its CPU; the exit status stays 0.
 * SECTION: Buffers and Buffering/switch Policy
 * Three records of 24 bytes fit.
 */
#pragma D option quiet
#pragma D option bufsize=72

BEGIN { printf("%d\n", 0); }
BEGIN { printf("%d\n", 1); }
BEGIN { printf("%d\n", 2); }
BEGIN { printf("%d\n", 3); }
BEGIN { printf("%d\n", 4); }
BEGIN { printf("%d\n", 5); }
BEGIN { printf("%d\n", 6); }
BEGIN { printf("%d\n", 7); }
BEGIN { printf("%d\n", 8); }
BEGIN { printf("%d\n", 9); }
tick-10ms { exit(0); }
