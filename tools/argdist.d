#!/usr/bin/env -S dvm run -s
/*
 * argdist: the values of a function's argument, as a distribution or counted
 *
 *   FUNCTION     $1                       Name or pattern of the functions
 *   MODULE       $2 = a.out               Program or library that contains them
 *   -a ARGUMENT  $3 = arg0 [arg0..arg9]   The argument
 *   -v           $4 = 0                   Count each value, in place of a distribution
 *   -s           $5 = 0                   The argument is a string: count each
 *   -d SECONDS   $6 = 0                   Stop after this time; 0: at Ctrl-C
 *
 * Rows of @values: function distribution
 * Rows of @counts: function value count
 * Rows of @strings: function value count
 * Needs: pid$target:$2:$1:entry
 */
#pragma D option quiet

pid$target:$2:$1:entry
/$4 == 0 && $5 == 0/
{
	@values[probefunc] = quantize($3);
}

pid$target:$2:$1:entry
/$4 != 0/
{
	@counts[probefunc, $3] = count();
}

pid$target:$2:$1:entry
/$5 != 0/
{
	@strings[probefunc, copyinstr($3)] = count();
}

tick-1s
/$6 > 0 && ++seconds >= $6/
{
	exit(0);
}

dtrace:::END
{
	printa("%s%@d\n", @values);
	printa("%-32s %20d %@10d\n", @counts);
	printa("%-32s %-40s %@10d\n", @strings);
}
