/*
 * ASSERTION: a record that could never fit is refused before anything is traced.
 * SECTION: Buffers and Buffering/Buffer Sizes
 */
#pragma D option bufsize=64

BEGIN { trace("a string takes strsize bytes"); exit(0); }
