/*
 * ASSERTION: a fault in a clause on ERROR is not reported by ERROR again, but counted.
 * SECTION: dtrace Provider/The ERROR Probe
 */
#pragma D option quiet

BEGIN { x = 0; trace(1 / x); }
ERROR { trace(2 / x); }
BEGIN { exit(0); }
