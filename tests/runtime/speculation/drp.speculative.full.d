/*
 * ASSERTION: a record that finds no room in its speculation is a speculative drop; what has room is committed.
 * SECTION: Speculative Tracing/Tuning Speculation
 */
#pragma D option quiet
#pragma D option specsize=48

BEGIN { self->s = speculation(); }
BEGIN { speculate(self->s); printf("%d\n", 1); }
BEGIN { speculate(self->s); printf("%d\n", 2); }
BEGIN { speculate(self->s); printf("%d\n", 3); }
BEGIN { speculate(self->s); printf("%d\n", 4); }
BEGIN { commit(self->s); }
BEGIN { exit(0); }
