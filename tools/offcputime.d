#!/usr/bin/env -S dvm run -s
/*
 * offcputime: where threads wait: time off the CPU by user or kernel stack
 *
 *   -p PID       $1 = 0                Only this process; 0: all
 *   -t TOP       $2 = 20 [1..1000000]  Print this many stacks
 *   -d SECONDS   $3 = 0                Stop after this time; 0: at Ctrl-C
 *   -k           $4 = 0                By kernel stack: where in the kernel threads wait
 *   -b           $5 = 0                By both: the kernel stack, then the user stack that led there (Linux 6.15 and later)
 *
 * Times are in microseconds; the longest total is printed last. Without -k and -b, only waits in system calls count. Their user stack
 * is taken when the call returns. With -k or -b all waits count, including those for pages and those of threads of the kernel. A wait
 * that has not ended when tracing ends does not count.
 *
 * Rows of @: comm stack us
 * Rows of @kernel: comm kernel_stack us
 * Rows of @both: comm kernel_stack stack us
 * Needs: sched:::sleep sched:::on-cpu syscall::read:return
 */
#pragma D option quiet

sched:::sleep
/pid != 0 && pid != $pid && ($1 == 0 || pid == $1)/
{
	self->begin = timestamp;
}

sched:::on-cpu
/($1 == 0 || pid == $1) && self->begin && $4 == 0 && $5 == 0/
{
	self->waited += timestamp - self->begin;
	self->begin = 0;
}

sched:::on-cpu
/($1 == 0 || pid == $1) && self->begin && $4 != 0/
{
	@kernel[execname, stack()] = sum(timestamp - self->begin);
	self->begin = 0;
}

sched:::on-cpu
/($1 == 0 || pid == $1) && self->begin && $5 != 0/
{
	@both[execname, stack(), ustack()] = sum(timestamp - self->begin);
	self->begin = 0;
}

/* With -k and -b nothing has waited here: the kernel sends system calls of process 1 only. */
syscall:::return
/($1 == 0 || pid == $1) && (($4 == 0 && $5 == 0) || pid == 1) && self->waited/
{
	@[execname, ustack()] = sum(self->waited);
	self->waited = 0;
}

tick-1s
/$3 > 0 && ++seconds >= $3/
{
	exit(0);
}

dtrace:::END
{
	trunc(@, $2);
	normalize(@, 1000);
	printa(@);
	trunc(@kernel, $2);
	normalize(@kernel, 1000);
	printa(@kernel);
	trunc(@both, $2);
	normalize(@both, 1000);
	printa(@both);
}
