/* What a clause asks of a process that has ended by then: its command line and ids are known from when tracing began.
 * run: -c '{programs}/types some words'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:types:visit:entry
{
	printf("%s, %d %d\n", strstr(execargs, " "), curpsinfo->pr_ppid > 0, curpsinfo->pr_euid == uid);
}
