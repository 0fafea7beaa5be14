#!/usr/bin/env -S dvm run -s
/*
 * How often is func() called?  dvm run examples/looper.d -c 'build/release/tests/programs/looper 10000000'
 */
pid$target:looper:func:entry
{
	@ = count();
}
