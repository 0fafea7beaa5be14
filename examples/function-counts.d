#!/usr/bin/env -S dvm run -s
/*
 * Which functions of bash run, and how often?  dvm run examples/function-counts.d -c "bash -c 'for i in 1 2 3; do :; done'"
 */
#pragma D option quiet

pid$target:bash::entry
{
	@[probefunc] = count();
}

END
{
	trunc(@, 20);
}
