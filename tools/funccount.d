#!/usr/bin/env -S dvm run -s
/*
 * funccount: calls of functions of a process
 *
 *   FUNCTION     $1          Name or pattern of the functions, such as 'str*'
 *   MODULE       $2 = a.out  Program or library that contains them
 *   -d SECONDS   $3 = 0      Stop after this time; 0: at Ctrl-C
 *
 * Rows of @: module function count
 * Needs: pid$target:$2:$1:entry
 */
#pragma D option quiet

pid$target:$2:$1:entry
{
	@[probemod, probefunc] = count();
}

tick-1s
/$3 > 0 && ++seconds >= $3/
{
	exit(0);
}

dtrace:::END
{
	printf("%-24s %-40s %12s\n", "MODULE", "FUNCTION", "COUNT");
	printa("%-24s %-40s %@12d\n", @);
}
