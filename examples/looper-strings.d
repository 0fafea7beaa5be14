#!/usr/bin/env -S dvm run -s
/*
 * With which strings is func() called?  The string is taken at the moment of the call, in the calling thread.
 * dvm run examples/looper-strings.d -c 'build/release/tests/programs/looper 1000000'
 */
pid$target:looper:func:entry
{
	@[copyinstr(arg0)] = count();
}
