/* Entry has the arguments, return the result twice; a failed call returns -1 and errno says why.
 * run: -q -c '{programs}/calls'
 * needs: uprobes
 */
syscall::open:entry, syscall::read:entry, syscall::pread64:entry, syscall::openat:entry, syscall::close:entry
/pid == $target/
{
	self->depth = 1;
}

syscall::open:entry
/pid == $target/
{
	printf("%s %s(%s, %d)\n", execname, probefunc, copyinstr(arg0), arg1);
}

syscall::openat:entry
/pid == $target/
{
	printf("%s %s(%d, %s, 0x%x, 0%o)\n", execname, probefunc, (int)arg0, copyinstr(arg1), arg2, arg3);
}

syscall::read:entry
/pid == $target/
{
	printf("%s %s(%d, %d)\n", execname, probefunc, arg0, arg2);
}

syscall::pread64:entry
/pid == $target/
{
	printf("%s %s(%d, %d, %d)\n", execname, probefunc, arg0, arg2, arg3);
}

syscall::close:entry
/pid == $target/
{
	printf("%s %s(%d)\n", execname, probefunc, (int)arg0);
}

syscall::open:return, syscall::read:return, syscall::pread64:return, syscall::openat:return, syscall::close:return
/pid == $target && self->depth/
{
	printf("  %s = %d %d, errno %d%s\n", probefunc, arg0, arg1, errno,
	    errno == ENOENT ? " ENOENT" : errno == EBADF ? " EBADF" : "");
	self->depth = 0;
}
