/* How the process was started, which sleeps meanwhile. Its arguments and environment are where it has them.
 * run: -q -c '/bin/sleep 60 0'
 * needs: uprobes
 */
syscall::clock_nanosleep:entry
/pid == $target/
{
	this->running = walltimestamp / 1000000000 - curpsinfo->pr_start.tv_sec;
	printf("%d %s\n", curpsinfo->pr_argc, copyinstr(*(uintptr_t *)copyin(curpsinfo->pr_argv + 8, 8)));
	printf("%d\n", *(uintptr_t *)copyin(curpsinfo->pr_envp - 8, 8));
	printf("%d %d\n", this->running >= -1 && this->running < 600, curpsinfo->pr_start.tv_nsec < 1000000000);
	printf("%d %d\n", curpsinfo->pr_addr == pid, curlwpsinfo->pr_addr == tid);
	printf("%d\n", curlwpsinfo->pr_bindpro == PBIND_NONE || curlwpsinfo->pr_bindpro == cpu);
	exit(0);
}
