/*
 * ASSERTION: with bufpolicy=fill tracing ends by itself when a buffer is full, with status 0 and no drops, and what END records
 * was set apart: of five records of 24 bytes one is END's.
 * SECTION: Buffers and Buffering/fill Policy, fill Policy and END Probes
 */
#pragma D option quiet
#pragma D option bufpolicy=fill
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
BEGIN { printf("%d\n", 9); }
END { printf("%d\n", 10); }
