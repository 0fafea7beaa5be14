#!/usr/bin/env -S dvm run -s
/*
 * stackcount: who calls a function: its calls counted by stack
 *
 *   FUNCTION     $1                    Name or pattern of the functions
 *   MODULE       $2 = a.out            Program or library that contains them
 *   -f FRAMES    $3 = 20 [1..1024]     Frames of a stack
 *   -t TOP       $4 = 20 [1..1000000]  Print this many stacks
 *   -d SECONDS   $5 = 0                Stop after this time; 0: at Ctrl-C
 *
 * The most frequent stack is printed last.
 *
 * Rows of @: stack count
 * Needs: pid$target:$2:$1:entry
 */
#pragma D option quiet

pid$target:$2:$1:entry
{
	@[ustack($3)] = count();
}

tick-1s
/$5 > 0 && ++seconds >= $5/
{
	exit(0);
}

dtrace:::END
{
	trunc(@, $4);
	printa(@);
}
