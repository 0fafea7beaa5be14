/*
 * ASSERTION: speculation() gives 0 when all of nspec are in use, and each time is counted.
 * SECTION: Speculative Tracing/Creating a Speculation
 */
#pragma D option quiet
#pragma D option nspec=2

BEGIN { printf("%d %d %d %d\n", speculation(), speculation(), speculation(), speculation()); exit(0); }
