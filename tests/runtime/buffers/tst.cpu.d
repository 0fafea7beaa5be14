/*
 * ASSERTION: with option cpu only what fires on that CPU is traced; BEGIN and END fire in any case.
 * SECTION: Options/cpu
 * replay: ../recorded/threads.dvm
 */
#pragma D option quiet
#pragma D option cpu=1

pid$target:threads:work:entry { @[cpu] = count(); }
END { printa("cpu %d\n", @); }
