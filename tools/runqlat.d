#!/usr/bin/env -S dvm run -s
/*
 * runqlat: how long runnable threads wait for a CPU
 *
 *   -p PID       $1 = 0  Only this process; 0: all
 *   -P           $2 = 0  A distribution for each program
 *   -d SECONDS   $3 = 0  Stop after this time; 0: at Ctrl-C
 *
 * Times are in microseconds, from sched:::enqueue to sched:::on-cpu.
 *
 * Rows of @: comm distribution_us
 * Needs: sched:::enqueue sched:::on-cpu
 */
#pragma D option quiet

sched:::enqueue
/$1 == 0 || args[1]->pr_pid == $1/
{
	queued[args[0]->pr_lwpid] = timestamp;
}

sched:::on-cpu
/queued[tid]/
{
	@[$2 != 0 ? execname : "all programs"] = quantize((timestamp - queued[tid]) / 1000);
	queued[tid] = 0;
}

tick-1s
/$3 > 0 && ++seconds >= $3/
{
	exit(0);
}

dtrace:::END
{
	printf("microseconds\n");
	printa("%s%@d\n", @);
}
