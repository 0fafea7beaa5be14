#!/usr/bin/env -S dvm run -s
/*
 * threadsnoop: threads that a process starts, and the functions that they begin with
 *
 *   -d SECONDS   $1 = 0  Stop after this time; 0: at Ctrl-C or when the program ends
 *
 * One line for each pthread_create(): milliseconds since tracing began, process, thread that calls, name, start function.
 *
 * Rows: time_ms pid tid comm function
 * Needs: pid$target:libc*:pthread_create:entry
 */
#pragma D option quiet
#pragma D option switchrate=100ms

dtrace:::BEGIN
{
	begin = timestamp;
	printf("TIME(ms) PID     TID     COMM             FUNCTION\n");
}

pid$target:libc*:pthread_create:entry
{
	printf("%-8d %-7d %-7d %-16s %A\n", (timestamp - begin) / 1000000, pid, tid, execname, arg2);
}

tick-1s
/$1 > 0 && ++seconds >= $1/
{
	exit(0);
}
