/* Processes come and go: the one of -c makes two, of which one ends with a status and the other by a signal, then runs no program.
 * run: -q -c '{programs}/calls'
 * needs: uprobes
 */
proc:::create
/pid == $target/
{
	printf("create %s %d\n", args[0]->pr_fname, args[0]->pr_ppid == $target);
	child[args[0]->pr_pid] = ++children;
}

proc:::start
/child[pid]/
{
	printf("start of child %d: %d\n", child[pid], tid == pid);
}

proc:::lwp-start
/child[pid]/
{
	printf("lwp-start of child %d\n", child[pid]);
}

proc:::signal-send
/child[pid] && args[2] == SIGUSR1/
{
	printf("signal-send of %d to child %d, %s\n", args[2], child[args[1]->pr_pid], args[1]->pr_fname);
}

proc:::exit
/child[pid]/
{
	printf("exit of child %d: %s\n", child[pid],
	    args[0] == CLD_EXITED ? "exited" : args[0] == CLD_KILLED ? "killed" : "dumped");
}


proc:::exec
/pid == $target/
{
	printf("exec %s\n", stringof(args[0]));
}

proc:::exec-failure
/pid == $target/
{
	printf("exec-failure %d\n", args[0] == ENOENT);
}

proc:::lwp-exit, proc:::exit
/pid == $target/
{
	printf("%s of it\n", probename);
}
