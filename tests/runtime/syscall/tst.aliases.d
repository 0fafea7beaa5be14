/* Names of other systems: the probe keeps the script's name and fires for the calls of Linux; a glob does not mean it.
 * run: -q -c '{programs}/calls'
 * needs: uprobes
 */
syscall::exece:entry, syscall::pread:entry, syscall::open64:return, syscall::rexit:entry
/pid == $target/
{
	printf("%s:%s\n", probefunc, probename);
}

syscall::open64:entry
/pid == $target/
{
	printf("%s %s %d\n", probefunc, copyinstr(arg0), arg2);
}

syscall::exec*:entry
/pid == $target/
{
	printf("a glob found %s\n", probefunc);
}
