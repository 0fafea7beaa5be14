/*
 * ASSERTION: without bufresize=manual, sizes for which there is no memory are halved until there is, and the user is told.
 * SECTION: Buffers and Buffering/Buffer Resizing Policy
 * sanitized: no
 * mask: lowered to \d+[mgt]
 */
#pragma D option quiet
#pragma D option bufsize=1024t
#pragma D option specsize=1024t

BEGIN { @ = count(); printf("traced"); exit(0); }
