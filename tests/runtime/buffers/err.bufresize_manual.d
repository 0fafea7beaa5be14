/*
 * ASSERTION: with bufresize=manual, a buffer for which there is no memory keeps tracing from starting.
 * SECTION: Buffers and Buffering/Buffer Resizing Policy
 */
#pragma D option bufresize=manual
#pragma D option bufsize=1024t

BEGIN { exit(0); }
