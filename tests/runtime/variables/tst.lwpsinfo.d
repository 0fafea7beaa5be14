/* What Linux tells of the thread, and curcpu as a pointer. */
#pragma D option quiet
BEGIN
{
	printf("%d %d %d\n", curlwpsinfo->pr_flag, curlwpsinfo->pr_pri > 0, curlwpsinfo->pr_nice >= 0);
	printf("%x\n", PR_FORK | PR_RLC | PR_KLC | PR_ASYNC | PR_MSACCT | PR_BPTADJ | PR_PTRACE | PR_MSFORK);
	printf("%s %d\n", curlwpsinfo->pr_clname, curlwpsinfo->pr_name == execname);
	printf("%d %d\n", curpsinfo->pr_wstat, curpsinfo->pr_nzomb);
	c = curcpu;
	printf("%d %d\n", c != NULL, c->cpu_id == cpu);
	exit(0);
}
ERROR { exit(1); }
