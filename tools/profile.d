#!/usr/bin/env -S dvm run -s
/*
 * profile: where programs use CPU time: stacks sampled by a timer
 *
 *   -p PID       $1 = 0                Only this process; 0: all
 *   -r RATE      $2 = 99 [1..5000]     Samples per second on each CPU
 *   -t TOP       $3 = 20 [1..1000000]  Print this many stacks
 *   -d SECONDS   $4 = 0                Stop after this time; 0: at Ctrl-C
 *   -k           $5 = 0                With the kernel stacks, above those of the programs
 *
 * The most frequent stack is printed last. Samples of idle CPUs do not count.
 *
 * Rows of @: comm stack samples
 * Rows of @both: comm kernel_stack stack samples
 * Needs: profile:::profile-99
 */
#pragma D option quiet

profile:::profile-$2
/$5 == 0 && pid != 0 && pid != $pid && ($1 == 0 || pid == $1)/
{
	@[execname, ustack()] = count();
}

profile:::profile-$2
/$5 != 0 && pid != 0 && pid != $pid && ($1 == 0 || pid == $1)/
{
	@both[execname, stack(), ustack()] = count();
}

tick-1s
/$4 > 0 && ++seconds >= $4/
{
	exit(0);
}

dtrace:::END
{
	trunc(@, $3);
	printa(@);
	trunc(@both, $3);
	printa(@both);
}
