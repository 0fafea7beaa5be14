#!/usr/bin/env -S dvm run -s
/*
 * execsnoop: programs as they start, with their arguments
 *
 *   -u UID       $1 = -1 [-1..4294967295]  Only programs of this user; -1: of all
 *   -n NAME      $2 = ""                   Only programs of this name
 *   -d SECONDS   $3 = 0                    Stop after this time; 0: at Ctrl-C
 *
 * One line for each program: milliseconds since tracing began, process, parent, user, command line. The first seven words of the
 * command line are printed.
 *
 * Rows: time_ms pid ppid uid args
 * Needs: proc:::exec-success syscall::execve:entry
 */
#pragma D option quiet
#pragma D option switchrate=100ms

dtrace:::BEGIN
{
	begin = timestamp;
	printf("TIME(ms) PID     PPID    UID    ARGS\n");
}

/* The words are taken at the call: the program may have ended before its command line can be read. */
syscall::execve:entry
{
	this->w0 = *(uintptr_t *)copyin(arg1, 8);
	this->w1 = *(uintptr_t *)copyin(arg1 + 8, 8);
	this->w2 = *(uintptr_t *)copyin(arg1 + 16, 8);
	this->w3 = *(uintptr_t *)copyin(arg1 + 24, 8);
	this->w4 = *(uintptr_t *)copyin(arg1 + 32, 8);
	this->w5 = *(uintptr_t *)copyin(arg1 + 40, 8);
	this->w6 = *(uintptr_t *)copyin(arg1 + 48, 8);
	self->args = this->w0 == 0 ? "" : copyinstr(this->w0);
	this->n = this->w0 == 0 ? 0 : this->w1 == 0 ? 1 : this->w2 == 0 ? 2 : this->w3 == 0 ? 3 : this->w4 == 0 ? 4 : this->w5 == 0 ? 5 : this->w6 == 0 ? 6 : 7;
	self->args = this->n < 2 ? self->args : strjoin(self->args, strjoin(" ", copyinstr(this->w1)));
	self->args = this->n < 3 ? self->args : strjoin(self->args, strjoin(" ", copyinstr(this->w2)));
	self->args = this->n < 4 ? self->args : strjoin(self->args, strjoin(" ", copyinstr(this->w3)));
	self->args = this->n < 5 ? self->args : strjoin(self->args, strjoin(" ", copyinstr(this->w4)));
	self->args = this->n < 6 ? self->args : strjoin(self->args, strjoin(" ", copyinstr(this->w5)));
	self->args = this->n < 7 ? self->args : strjoin(self->args, strjoin(" ", copyinstr(this->w6)));
}

syscall::execve:return
/errno != 0/
{
	self->args = 0;
}

proc:::exec-success
/($1 < 0 || arg9 == $1) && ($$2 == "" || execname == $$2)/
{
	printf("%-8d %-7d %-7d %-6d %s\n", (timestamp - begin) / 1000000, pid, (int)arg8, (int)arg9, self->args == NULL ? curpsinfo->pr_psargs : self->args);
}

proc:::exec-success
{
	self->args = 0;
}

tick-1s
/$3 > 0 && ++seconds >= $3/
{
	exit(0);
}
