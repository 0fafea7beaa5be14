/*
 * ASSERTION: what was speculated is printed when it is committed, and not before.
 * SECTION: Speculative Tracing/Committing a Speculation
 */
#pragma D option quiet

BEGIN { self->s = speculation(); }
BEGIN { speculate(self->s); printf("speculated %d\n", 1); }
BEGIN { speculate(self->s); printf("speculated %d\n", 2); }
BEGIN { printf("not speculated\n"); }
BEGIN { commit(self->s); }
BEGIN { exit(0); }
