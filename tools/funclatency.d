#!/usr/bin/env -S dvm run -s
/*
 * funclatency: how long functions of a process take, as a distribution
 *
 *   FUNCTION     $1          Name or pattern of the functions
 *   MODULE       $2 = a.out  Program or library that contains them
 *   -u           $3 = 0      In microseconds, not nanoseconds
 *   -m           $4 = 0      In milliseconds
 *   -d SECONDS   $5 = 0      Stop after this time; 0: at Ctrl-C
 *
 * Time includes what the function calls. A function that calls itself is timed at each level, to a depth of 100.
 *
 * Rows: unit
 * Rows of @: function distribution
 * Needs: pid$target:$2:$1:entry pid$target:$2:$1:return
 */
#pragma D option quiet

/* Levels are counted for each function, because some functions may have no return probe. The limit bounds what these leave. */
pid$target:$2:$1:entry
{
	self->depth[probefunc]++;
}

pid$target:$2:$1:entry
/self->depth[probefunc] <= 100/
{
	self->begin[probefunc, self->depth[probefunc]] = timestamp;
}

pid$target:$2:$1:return
/self->begin[probefunc, self->depth[probefunc]] != 0/
{
	this->took = timestamp - self->begin[probefunc, self->depth[probefunc]];
	self->begin[probefunc, self->depth[probefunc]] = 0;
	@[probefunc] = quantize(this->took / ($4 != 0 ? 1000000 : $3 != 0 ? 1000 : 1));
}

pid$target:$2:$1:return
/self->depth[probefunc] > 0/
{
	self->depth[probefunc]--;
}

tick-1s
/$5 > 0 && ++seconds >= $5/
{
	exit(0);
}

dtrace:::END
{
	printf("%s\n", $4 != 0 ? "milliseconds" : $3 != 0 ? "microseconds" : "nanoseconds");
	printa("%s%@d\n", @);
}
