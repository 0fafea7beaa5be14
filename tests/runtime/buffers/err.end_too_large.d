/*
 * ASSERTION: what END may record must fit in a principal buffer of policy fill.
 * SECTION: Buffers and Buffering/fill Policy and END Probes
 */
#pragma D option bufpolicy=fill
#pragma D option bufsize=64

BEGIN { exit(0); }
END { printf("%d", 1); }
END { printf("%d", 2); }
END { printf("%d", 3); }
