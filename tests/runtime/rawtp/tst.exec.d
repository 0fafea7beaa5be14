/* A tracepoint as it is.
 * run: -q -c '{programs}/calls'
 * needs: uprobes
 */
rawtp:::sched_process_exit
/pid == $target/
{
	printf("%s:%s:%s %d\n", probeprov, probemod, probename, arg0 != 0);
}


sdt:vmlinux::sched_process_fork
/pid == $target/
{
	@["forks"] = count();
}
