/* What off-cpu says comes next is what on-cpu then fires in, on the same CPU; the same is taken from the queue. Idle threads, pid 0,
 * have the same number on each CPU and are left out.
 * run: -q -c 'sleep 0.2'
 * needs: uprobes
 */
sched:::dequeue
{
	taken[cpu] = args[0]->pr_lwpid;
}

sched:::off-cpu
{
	next[cpu] = args[0]->pr_lwpid;
	name[cpu] = args[1]->pr_fname;
}

sched:::on-cpu
/next[cpu]/
{
	@wrong["another thread than was announced"] = sum(next[cpu] != tid || name[cpu] != execname);
	@wrong["another thread than was taken from the queue"] = sum(taken[cpu] && taken[cpu] != tid);
	next[cpu] = taken[cpu] = 0;
}

sched:::on-cpu
/pid == $target/
{
	ran = 1;
	@wrong["not on the CPU"] = sum(curcpu->cpu_id != cpu);
}

sched:::sleep
/pid == $target/
{
	slept = 1;
}

sched:::wakeup
/slept && args[1]->pr_pid == $target/
{
	woken = 1;
	@wrong["woken under another name"] = sum(args[1]->pr_fname != "sleep" || args[0]->pr_name != "sleep" || args[0]->pr_stype != SOBJ_NONE ||
	    args[0]->pr_bindpset != 0);
}

END
{
	printf("ran %d, slept %d, was woken %d\n", ran, slept, woken);
}
