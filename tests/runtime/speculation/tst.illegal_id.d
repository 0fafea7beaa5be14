/*
 * ASSERTION: an id that speculation() cannot have given is an illegal operation; 0 is none and ignored.
 * SECTION: Speculative Tracing/Creating a Speculation
 */
#pragma D option quiet
#pragma D option nspec=2

BEGIN { speculate(0); printf("nowhere\n"); }
BEGIN { commit(0); }
BEGIN { discard(0); }
BEGIN { speculate(3); printf("nowhere\n"); }
BEGIN { commit(3); }
BEGIN { discard(-1); }
BEGIN { printf("still here\n"); exit(0); }
ERROR { printf("fault %d\n", arg4); }
