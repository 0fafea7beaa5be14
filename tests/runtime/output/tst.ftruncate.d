/*
 * ftruncate() empties the file that is written to. Output that is no file stays.
 */
#pragma D option quiet
#pragma D option destructive

BEGIN
{
	ftruncate();
	printf("kept\n");
	freopen("/tmp/dvm.ftruncate.%d", $pid);
	printf("one\n");
	printf("two\n");
	ftruncate();
	printf("three\n");
	freopen("");
	system("cat /tmp/dvm.ftruncate.%d; rm /tmp/dvm.ftruncate.%d", $pid, $pid);
	exit(0);
}
