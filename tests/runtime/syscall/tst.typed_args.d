/* Arguments have the types that the kernel describes: numbers as narrow as they are, pointers into the process.
 * run: -q -c '{programs}/calls'
 * needs: uprobes
 */
syscall::open:entry
/pid == $target/
{
	printf("%s %d %d\n", copyinstr((uintptr_t)args[0]), sizeof (args[0]), args[1]);
}

syscall::openat:entry
/pid == $target && args[0] < 0/
{
	printf("%d %s %d 0%o\n", args[0], stringof(args[1]), sizeof (args[3]), args[3]);
}

syscall::read:entry
/pid == $target && args[2] == 16/
{
	printf("%d %d\n", sizeof (args[0]), args[2]);
}

syscall::close:return
/pid == $target && args[0] < 0/
{
	printf("%d %d %d\n", args[0], args[1], errno);
}
