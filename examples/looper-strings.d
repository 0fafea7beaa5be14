#!/usr/bin/env -S dvm run -s
/*
 * With which strings is func() called?  The string is taken at the moment of the call, in the calling thread.
 * docs/manual/README.md has looper.  dvm run examples/looper-strings.d -c './looper 1000000'
 */
pid$target:looper:func:entry
{
	@[copyinstr(arg0)] = count();
}
