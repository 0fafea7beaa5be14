#!/usr/bin/env -S dvm run -s
/*
 * Which calls of malloc() take longer than 10 us, and with which arguments?  Each call is recorded, but only slow ones are printed.
 *   dvm run examples/slow-calls.d -c '/usr/bin/python3 -c pass'
 */
#pragma D option quiet
#pragma D option nspec=64

pid$target:libc:malloc:entry
{
	self->spec = speculation();
	self->start = timestamp;
}

pid$target:libc:malloc:entry
/self->spec/
{
	speculate(self->spec);
	printf("malloc(%d)", arg0);
}

pid$target:libc:malloc:return
/self->spec/
{
	speculate(self->spec);
	printf(" = 0x%x after %d us\n", arg1, (timestamp - self->start) / 1000);
}

pid$target:libc:malloc:return
/self->spec && timestamp - self->start > 10000/
{
	commit(self->spec);
	self->spec = 0;
}

pid$target:libc:malloc:return
/self->spec/
{
	discard(self->spec);
	self->spec = 0;
}
