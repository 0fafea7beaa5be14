/*
 * ASSERTION: records of several CPUs come in the order of their firings.
 * SECTION: Options/temporal
 * replay: ../recorded/threads.dvm
 */
#pragma D option quiet

pid$target:threads:work:entry { printf("%d\n", n++); }
