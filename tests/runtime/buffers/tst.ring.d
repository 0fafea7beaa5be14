/*
 * ASSERTION: with bufpolicy=ring the newest records stay, oldest first.
 * SECTION: Buffers and Buffering/ring Policy
 * A record of these takes 24 bytes, so five fit.
 */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=120

BEGIN { printf("%d\n", 0); }
BEGIN { printf("%d\n", 1); }
BEGIN { printf("%d\n", 2); }
BEGIN { printf("%d\n", 3); }
BEGIN { printf("%d\n", 4); }
BEGIN { printf("%d\n", 5); }
BEGIN { printf("%d\n", 6); }
BEGIN { printf("%d\n", 7); }
BEGIN { printf("%d\n", 8); }
BEGIN { printf("%d\n", 9); exit(0); }
