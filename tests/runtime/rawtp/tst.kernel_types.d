/* The structure that a tracepoint passes, by the kernel's own description of it.
 * run: -c 'sh -c "exec /bin/true"'
 * needs: uprobes
 */
#pragma D option quiet

rawtp:::sched_process_exec
/pid == $target/
{
	this->thread = (struct vmlinux`task_struct *)arg0;
	printf("%s %d %d\n", this->thread->comm, this->thread->pid == tid, this->thread->tgid == pid);
}
