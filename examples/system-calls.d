#!/usr/bin/env -S dvm run -s
/*
 * Which system calls does a program make, how often, and how much of its CPU time goes into them?
 *   dvm run examples/system-calls.d -c 'find /usr -name stdio.h'
 */
#pragma D option quiet

syscall:::entry
/pid == $target/
{
	self->used = vtimestamp;
	@calls[probefunc] = count();
	@time[probefunc] = sum(0);
}

syscall:::return
/pid == $target && self->used/
{
	@time[probefunc] = sum(vtimestamp - self->used);
	self->used = 0;
}

END
{
	printf("%-24s %8s %12s\n", "call", "count", "CPU ns");
	printa("%-24s %@8d %@12d\n", @calls, @time);
}
