/* Three threads, each with a state of its own.
 * replay: threads.dvm
 */
#pragma D option quiet

pid$target:threads:work:entry { self->n++; @[self->n] = count(); @ids = lquantize(tid - pid, 0, 16, 1); seen[tid] = 1; }
END { trunc(@, 2); }
