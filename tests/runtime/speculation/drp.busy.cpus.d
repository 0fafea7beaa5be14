/*
 * ASSERTION: commit() moves what was speculated on its own CPU at once; what other CPUs have follows when they are cleaned, and
 * until then the speculation is busy. The recording is shorter than cleanrate, so that is at the end, before END fires.
 * SECTION: Speculative Tracing/Committing a Speculation, Tuning Speculation
 * replay: ../recorded/threads.dvm
 */
#pragma D option quiet
#pragma D option cleanrate=1s

BEGIN { n = 0; }
pid$target:threads:work:entry /n == 78/ { spec = speculation(); }
pid$target:threads:work:entry /n >= 78 && n < 82/ { speculate(spec); printf("%d\n", n); }
pid$target:threads:work:entry { n++; }
pid$target:threads:work:entry /n == 82/ { commit(spec); }
pid$target:threads:work:entry /n == 82/ { printf("then %d\n", speculation()); }
END { printf("end\n"); }
