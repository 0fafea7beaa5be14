/*
 * ASSERTION: what was discarded is never printed, and the speculation can be used again at once.
 * SECTION: Speculative Tracing/Discarding a Speculation
 */
#pragma D option quiet

BEGIN { self->s = speculation(); }
BEGIN { speculate(self->s); printf("discarded\n"); }
BEGIN { discard(self->s); self->t = speculation(); }
BEGIN { speculate(self->t); printf("kept by %d\n", self->t); }
BEGIN { commit(self->t); }
BEGIN { speculate(self->t); printf("after the commit\n"); }
BEGIN { exit(0); }
END { commit(self->t); }
