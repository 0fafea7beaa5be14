#!/usr/bin/env -S dvm run -s
/*
 * opensnoop: files as they are opened, with the result
 *
 *   -p PID       $1 = 0   Only this process; 0: all
 *   -n NAME      $2 = ""  Only processes of this name
 *   -e           $3 = 0   Only opens that failed
 *   -d SECONDS   $4 = 0   Stop after this time; 0: at Ctrl-C
 *
 * One line for each open(), openat(), openat2() and creat(): process, its name, file descriptor (-1: failed), errno, path.
 *
 * Rows: pid comm fd errno path
 * Needs: syscall::openat:entry syscall::openat:return
 */
#pragma D option quiet
#pragma D option switchrate=100ms

dtrace:::BEGIN
{
	printf("PID     COMM               FD  ERR PATH\n");
}

syscall::open:entry,
syscall::creat:entry
/($1 == 0 || pid == $1) && ($$2 == "" || execname == $$2)/
{
	self->path = copyinstr(arg0);
	self->is_open = 1;
}

syscall::openat:entry,
syscall::openat2:entry
/($1 == 0 || pid == $1) && ($$2 == "" || execname == $$2)/
{
	self->path = copyinstr(arg1);
	self->is_open = 1;
}

syscall::open:return,
syscall::creat:return,
syscall::openat:return,
syscall::openat2:return
/($1 == 0 || pid == $1) && self->is_open && ($3 == 0 || errno != 0)/
{
	printf("%-7d %-16s %4d %4d %s\n", pid, execname, (int)arg1, errno, self->path);
}

syscall::open:return,
syscall::creat:return,
syscall::openat:return,
syscall::openat2:return
/($1 == 0 || pid == $1) && self->is_open/
{
	self->is_open = 0;
	self->path = 0;
}

tick-1s
/$4 > 0 && ++seconds >= $4/
{
	exit(0);
}
