/*
 * ASSERTION: speculate(0), as where speculation() found none, ends its clause: what follows it is not done, and is no fault.
 * SECTION: Speculative Tracing/Using a Speculation
 */
#pragma D option quiet

BEGIN { taken = speculation(); }
BEGIN { speculate(taken); printf("kept\n"); }
BEGIN { speculate(0); after++; discard(taken); }
BEGIN { commit(taken); }
BEGIN { printf("after: %d\n", after); exit(0); }
ERROR { printf("a fault\n"); }
