#!/usr/bin/env -S dvm run -s
/*
 * dbslower: slow queries of PostgreSQL and MySQL servers
 *
 *   -m MS        $1 = 1  Print queries that take at least this many milliseconds
 *   -d SECONDS   $2 = 0  Stop after this time; 0: at Ctrl-C or when the server ends
 *
 * The server must have been built with markers: PostgreSQL with --enable-dtrace, as Debian's is, or MySQL up to 5.7 with ENABLE_DTRACE.
 * MySQL 8 and MariaDB have none. Name the server process of the connection, or any server process with -x followfork.
 *
 * Rows: time_ms pid duration_us query
 * Needs one of: postgresql$target:::query-start mysql$target:::query-start
 */
#pragma D option quiet
#pragma D option switchrate=100ms

dtrace:::BEGIN
{
	begin = timestamp;
}

postgresql$target:::query-start,
mysql$target:::query-start
{
	self->query = copyinstr(arg0);
	self->begin = timestamp;
}

postgresql$target:::query-done,
mysql$target:::query-done
/self->begin != 0 && timestamp - self->begin >= $1 * 1000000 && rows++ == 0/
{
	printf("TIME(ms) PID     DURATION(us) QUERY\n");
}

postgresql$target:::query-done,
mysql$target:::query-done
/self->begin != 0 && timestamp - self->begin >= $1 * 1000000/
{
	printf("%-8d %-7d %12d %s\n", (timestamp - begin) / 1000000, pid, (timestamp - self->begin) / 1000, self->query);
}

postgresql$target:::query-done,
mysql$target:::query-done
{
	self->begin = 0;
	self->query = 0;
}

tick-1s
/$2 > 0 && ++seconds >= $2/
{
	exit(0);
}
