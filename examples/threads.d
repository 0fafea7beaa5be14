#!/usr/bin/env -S dvm run -s
/*
 * Which thread does the work?  The sources have threads in tests/programs.  dvm run examples/threads.d -c './threads 4 10000'
 */
#pragma D option quiet

pid$target:threads:work:entry
{
	@calls[tid] = count();
	@total = count();
}

END
{
	printa("thread %d: %@d calls\n", @calls);
	printa("all: %@d calls\n", @total);
	clear(@calls);
	clear(@total);
	trunc(@calls);
	trunc(@total);
}
