/* arg0 and arg1 of a thread's probes are what curthread and its process are in the thread.
 * run: -q -c 'sleep 0.2'
 * needs: uprobes
 */
sched:::enqueue, sched:::wakeup, sched:::dequeue
/arg0 != args[0]->pr_addr || arg1 != args[1]->pr_addr/
{
	printf("%s %x %x\n", probename, arg0, arg1);
	exit(1);
}

sched:::enqueue
{
	queued[arg0, arg1] = 1;
}

sched:::on-cpu
/pid == $target && queued[(uint64_t)curthread, (uint64_t)curthread->t_procp]/
{
	trace("found");
	exit(0);
}

tick-10s
{
	exit(1);
}
