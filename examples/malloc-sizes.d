#!/usr/bin/env -S dvm run -s
/*
 * How large are the blocks that a program asks malloc() for?  dvm run examples/malloc-sizes.d -c '/usr/bin/python3 -c pass'
 */
#pragma D option quiet

pid$target:libc:malloc:entry
{
	@["bytes asked of malloc"] = quantize(arg0);
}
