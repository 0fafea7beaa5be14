#!/usr/bin/env -S dvm run -s
/*
 * How long does malloc() take, from entry to return?  dvm run examples/latency.d -c '/usr/bin/python3 -c pass'
 */
#pragma D option quiet

pid$target:libc:malloc:entry
{
	self->start = timestamp;
}

pid$target:libc:malloc:return
/self->start/
{
	@["ns in malloc"] = quantize(timestamp - self->start);
	self->start = 0;
}
