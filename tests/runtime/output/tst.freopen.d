/*
 * freopen() appends what follows to a file, of commands too; freopen("") goes back. Its name is a format.
 */
#pragma D option quiet
#pragma D option destructive

BEGIN
{
	printf("one\n");
	freopen("");
	freopen("/tmp/dvm.%s.%d", "freopen", $pid);
	printf("two\n");
	system("echo three");
	freopen("");
	printf("four\n");
	freopen("/tmp/dvm.%s.%d", "freopen", $pid);
	printf("five\n");
	freopen("");
	system("cat /tmp/dvm.freopen.%d; rm /tmp/dvm.freopen.%d", $pid, $pid);
	exit(0);
}
