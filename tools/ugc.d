#!/usr/bin/env -S dvm run -s
/*
 * ugc: garbage collections of Python, Ruby and Java programs, and how long they take
 *
 *   -m MS        $1 = 0  Print only collections of at least this many milliseconds
 *   -d SECONDS   $2 = 0  Stop after this time; 0: at Ctrl-C or when the program ends
 *
 * The program must have been built with markers, as in Debian: Python --with-dtrace, Ruby --enable-dtrace, OpenJDK with dtrace enabled.
 * For Ruby, a line is the marking, or one of the steps of sweeping. Java loads its markers after its start, so with -c, dvm
 * finds them then.
 *
 * Rows: time_ms language pause_us
 * Rows of @: language distribution_us
 * Needs one of: python$target:::gc-start ruby$target:::gc-mark-begin hotspot$target:::gc-begin
 */
#pragma D option quiet
#pragma D option switchrate=100ms

dtrace:::BEGIN
{
	begin = timestamp;
}

python$target:::gc-start,
ruby$target:::gc-mark-begin,
ruby$target:::gc-sweep-begin,
hotspot$target:::gc-begin
{
	self->begin = timestamp;
}

python$target:::gc-done,
ruby$target:::gc-mark-end,
ruby$target:::gc-sweep-end,
hotspot$target:::gc-end
/self->begin != 0 && timestamp - self->begin >= $1 * 1000000 && rows++ == 0/
{
	printf("TIME(ms) LANGUAGE  PAUSE(us)\n");
}

python$target:::gc-done,
ruby$target:::gc-mark-end,
ruby$target:::gc-sweep-end,
hotspot$target:::gc-end
/self->begin != 0 && timestamp - self->begin >= $1 * 1000000/
{
	this->language = strtok(probeprov, "0123456789");
	printf("%-8d %-8s %10d\n", (timestamp - begin) / 1000000, this->language, (timestamp - self->begin) / 1000);
	@[this->language] = quantize((timestamp - self->begin) / 1000);
}

python$target:::gc-done,
ruby$target:::gc-mark-end,
ruby$target:::gc-sweep-end,
hotspot$target:::gc-end
{
	self->begin = 0;
}

tick-1s
/$2 > 0 && ++seconds >= $2/
{
	exit(0);
}

dtrace:::END
/rows != 0/
{
	printf("\nmicroseconds\n");
	printa("%s%@d\n", @);
}
