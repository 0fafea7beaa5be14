/* The structure that a tracepoint passes, by the kernel's own description of it. arg1 is the kernel's number of the thread.
 * run: -c 'sh -c "exec /bin/true"'
 * needs: uprobes
 */
#pragma D option quiet

rawtp:::sched_process_exec
/pid == $target/
{
	this->thread = (struct vmlinux`task_struct *)arg0;
	printf("%s %d %d\n", this->thread->comm, this->thread->pid == arg1, this->thread->tgid == arg1);
}
