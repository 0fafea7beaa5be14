/*
 * ASSERTION: a speculation of several CPUs that was discarded can be used again once it was cleaned, at cleanrate.
 * SECTION: Speculative Tracing/Discarding a Speculation
 * replay: ../recorded/threads.dvm
 */
#pragma D option quiet
#pragma D option cleanrate=1us

BEGIN { n = 0; }
pid$target:threads:work:entry /n == 78/ { spec = speculation(); }
pid$target:threads:work:entry /n >= 78 && n < 82/ { speculate(spec); printf("%d\n", n); }
pid$target:threads:work:entry { n++; }
pid$target:threads:work:entry /n == 82/ { discard(spec); }
pid$target:threads:work:entry /n == 90/ { again = speculation(); }
pid$target:threads:work:entry /n == 90/ { speculate(again); printf("%d in %d\n", n, again); }
pid$target:threads:work:entry /n == 90/ { commit(again); }
