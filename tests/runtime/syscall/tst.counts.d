/* A glob counts what the program did; the same probes are there as lx-syscall. What begins with mq_ or ends otherwise is not meant.
 * run: -q -c '{programs}/calls'
 * needs: uprobes
 */
syscall::*open*:entry, syscall::getppid:entry, syscall::pread*:entry
/execname == "calls" && pid == $target/
{
	@calls[probeprov, probefunc, probename] = count();
}

lx-syscall::getppid:return
/pid == $target/
{
	@calls[probeprov, probefunc, probename] = count();
}

END
{
	printa("%-12s%-10s%-8s%@d\n", @calls);
}
