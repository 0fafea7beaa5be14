#!/usr/bin/env -S dvm run -s
/*
 * How often is func() called?  docs/manual/README.md has looper.  dvm run examples/looper.d -c './looper 10000000'
 */
pid$target:looper:func:entry
{
	@ = count();
}
