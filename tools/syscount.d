#!/usr/bin/env -S dvm run -s
/*
 * syscount: system calls, counted by name or by process, with their time
 *
 *   -p PID       $1 = 0   Only this process; 0: all
 *   -P           $2 = 0   Count by process, not by system call
 *   -d SECONDS   $3 = 0   Stop after this time; 0: at Ctrl-C
 *
 * Columns: name, calls, total time in microseconds. The name with most calls is last.
 *
 * Rows of @calls: name count time_us
 * Needs: syscall::read:entry syscall::read:return
 */
#pragma D option quiet

syscall:::entry
/($1 == 0 || pid == $1) && pid != $pid/
{
	self->begin = timestamp;
}

syscall:::return
/($1 == 0 || pid == $1) && self->begin/
{
	@calls[$2 != 0 ? execname : probefunc] = count();
	@time[$2 != 0 ? execname : probefunc] = sum(timestamp - self->begin);
	self->begin = 0;
}

tick-1s
/$3 > 0 && ++seconds >= $3/
{
	exit(0);
}

dtrace:::END
{
	normalize(@time, 1000);
	printf("%-24s %10s %14s\n", $2 != 0 ? "COMM" : "SYSCALL", "COUNT", "TIME(us)");
	printa("%-24s %@10d %@14d\n", @calls, @time);
}
