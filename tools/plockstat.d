#!/usr/bin/env -S dvm run -s
/*
 * plockstat: mutexes of a process: how long threads wait for them and hold them
 *
 *   -w NS        $1 = 1000  Count only waits of at least this many nanoseconds
 *   -d SECONDS   $2 = 0     Stop after this time; 0: at Ctrl-C or when the program ends
 *
 * Each row shows the number of calls, total nanoseconds, the mutex and the caller. The longest times are last. A mutex is shown by its name if
 * it is a variable of the program or of a library, and by its address otherwise.
 *
 * The tool traces the mutexes of libc. A hold ends when the thread waits for a condition (pthread_cond_wait and others), and
 * another begins when that call returns; the time between is neither hold nor wait. Locking a recursive mutex again is part of
 * the outer hold.
 *
 * Rows of @waits: mutex caller count time_ns
 * Rows of @holds: mutex caller count time_ns
 * Needs: pid$target:libc*:pthread_mutex_lock:entry pid$target:libc*:pthread_mutex_unlock:entry
 */
#pragma D option quiet
#pragma D option zdefs
#pragma D option aggsortpos=1
#pragma D option dynvarsize=16m

self int depth[int64_t];            /* of locks that the thread holds */
self uint64_t held[int64_t];        /* since when; without a depth: if a timed lock has succeeded */
self uint64_t by[int64_t];

/* At offset 16 of a mutex lies its kind: 1 is recursive. */
pid$target:libc*:pthread_mutex_lock:entry,
pid$target:libc*:pthread_mutex_trylock:entry,
pid$target:libc*:pthread_mutex_timedlock:entry,
pid$target:libc*:pthread_mutex_clocklock:entry
{
	self->mutex = arg0;
	self->caller = ucaller;
	self->is_recursive = (*(int *)copyin(arg0 + 16, 4) & 3) == 1;
}

pid$target:libc*:pthread_mutex_lock:entry,
pid$target:libc*:pthread_mutex_timedlock:entry,
pid$target:libc*:pthread_mutex_clocklock:entry
{
	self->begin = timestamp;
}

pid$target:libc*:pthread_mutex_lock:return,
pid$target:libc*:pthread_mutex_timedlock:return,
pid$target:libc*:pthread_mutex_clocklock:return
/self->begin != 0 && timestamp - self->begin >= $1/
{
	@waits[uaddr(self->mutex), uaddr(self->caller)] = count();
	@waited[uaddr(self->mutex), uaddr(self->caller)] = sum(timestamp - self->begin);
}

/* Its result is not known here. If it has failed, the thread locks the mutex before it unlocks it. */
pid$target:libc*:pthread_mutex_timedlock:return,
pid$target:libc*:pthread_mutex_clocklock:return
/self->mutex != 0 && self->depth[self->mutex] == 0/
{
	self->held[self->mutex] = timestamp;
	self->by[self->mutex] = self->caller;
}

/* 130 is EOWNERDEAD: a robust mutex whose owner has died is taken all the same. */
pid$target:libc*:pthread_mutex_trylock:return
/arg1 != 0 && arg1 != 130/
{
	self->mutex = 0;
}

/* The hold ends while the thread waits for the condition. */
pid$target:libc*:pthread_cond_wait:entry,
pid$target:libc*:pthread_cond_timedwait:entry,
pid$target:libc*:pthread_cond_clockwait:entry
{
	this->released = arg1;
	self->mutex = arg1;
	self->caller = ucaller;
	self->is_recursive = 1;
}

pid$target:libc*:pthread_mutex_lock:return,
pid$target:libc*:pthread_mutex_trylock:return,
pid$target:libc*:pthread_cond_wait:return,
pid$target:libc*:pthread_cond_timedwait:return,
pid$target:libc*:pthread_cond_clockwait:return
/self->mutex != 0 && self->depth[self->mutex] == 0/
{
	self->held[self->mutex] = timestamp;
	self->by[self->mutex] = self->caller;
}

pid$target:libc*:pthread_mutex_lock:return,
pid$target:libc*:pthread_mutex_trylock:return,
pid$target:libc*:pthread_cond_wait:return,
pid$target:libc*:pthread_cond_timedwait:return,
pid$target:libc*:pthread_cond_clockwait:return
/self->mutex != 0/
{
	self->depth[self->mutex] = self->is_recursive ? self->depth[self->mutex] + 1 : 1;
}

pid$target:libc*:pthread_mutex_lock:return,
pid$target:libc*:pthread_mutex_trylock:return,
pid$target:libc*:pthread_mutex_timedlock:return,
pid$target:libc*:pthread_mutex_clocklock:return,
pid$target:libc*:pthread_cond_wait:return,
pid$target:libc*:pthread_cond_timedwait:return,
pid$target:libc*:pthread_cond_clockwait:return
{
	self->mutex = 0;
	self->caller = 0;
	self->is_recursive = 0;
	self->begin = 0;
}

pid$target:libc*:pthread_mutex_unlock:entry
{
	this->released = arg0;
}

pid$target:libc*:pthread_mutex_unlock:entry,
pid$target:libc*:pthread_cond_wait:entry,
pid$target:libc*:pthread_cond_timedwait:entry,
pid$target:libc*:pthread_cond_clockwait:entry
/self->held[this->released] != 0 && self->depth[this->released] <= 1/
{
	@holds[uaddr(this->released), uaddr(self->by[this->released])] = count();
	@held[uaddr(this->released), uaddr(self->by[this->released])] = sum(timestamp - self->held[this->released]);
	self->held[this->released] = 0;
	self->by[this->released] = 0;
	self->depth[this->released] = 0;
}

pid$target:libc*:pthread_mutex_unlock:entry,
pid$target:libc*:pthread_cond_wait:entry,
pid$target:libc*:pthread_cond_timedwait:entry,
pid$target:libc*:pthread_cond_clockwait:entry
/self->depth[this->released] > 1/
{
	self->depth[this->released]--;
}

tick-1s
/$2 > 0 && ++seconds >= $2/
{
	exit(0);
}

dtrace:::END
{
	printf("Mutex wait\n%10s %14s %-28s %s\n", "COUNT", "TIME(ns)", "MUTEX", "CALLER");
	printa("%@10d %@14d %-28A %A\n", @waits, @waited);
	printf("\nMutex hold\n%10s %14s %-28s %s\n", "COUNT", "TIME(ns)", "MUTEX", "CALLER");
	printa("%@10d %@14d %-28A %A\n", @holds, @held);
}
