#!/usr/bin/env -S dvm run -s
/*
 * plockstat: mutexes of a process: how long threads wait for them and hold them
 *
 *   -w NS        $1 = 1000  Count only waits of at least this many nanoseconds
 *   -d SECONDS   $2 = 0     Stop after this time; 0: at Ctrl-C or when the program ends
 *
 * Each row holds calls, total nanoseconds, the address of the mutex and the caller. The longest times are last.
 * Traced are pthread_mutex_lock and pthread_mutex_unlock of libc.
 *
 * Rows of @waits: mutex caller count time_ns
 * Rows of @holds: mutex caller count time_ns
 * Needs: pid$target:libc*:pthread_mutex_lock:entry pid$target:libc*:pthread_mutex_unlock:entry
 */
#pragma D option quiet
#pragma D option aggsortpos=1
#pragma D option dynvarsize=16m

pid$target:libc*:pthread_mutex_lock:entry
{
	self->mutex = arg0;
	self->caller = ucaller;
	self->begin = timestamp;
}

pid$target:libc*:pthread_mutex_lock:return
/self->begin != 0 && timestamp - self->begin >= $1/
{
	@waits[self->mutex, self->caller] = count();
	@waited[self->mutex, self->caller] = sum(timestamp - self->begin);
}

pid$target:libc*:pthread_mutex_lock:return
/self->begin != 0/
{
	self->held[self->mutex] = timestamp;
	self->by[self->mutex] = self->caller;
	self->begin = 0;
}

pid$target:libc*:pthread_mutex_unlock:entry
/self->held[arg0] != 0/
{
	@holds[arg0, self->by[arg0]] = count();
	@held[arg0, self->by[arg0]] = sum(timestamp - self->held[arg0]);
	self->held[arg0] = 0;
	self->by[arg0] = 0;
}

tick-1s
/$2 > 0 && ++seconds >= $2/
{
	exit(0);
}

dtrace:::END
{
	printf("Mutex wait\n%10s %14s %-18s %s\n", "COUNT", "TIME(ns)", "MUTEX", "CALLER");
	printa("%@10d %@14d 0x%-16x %A\n", @waits, @waited);
	printf("\nMutex hold\n%10s %14s %-18s %s\n", "COUNT", "TIME(ns)", "MUTEX", "CALLER");
	printa("%@10d %@14d 0x%-16x %A\n", @holds, @held);
}
