/*
 * A file that cannot be opened is said, and the output stays where it was.
 */
#pragma D option quiet
#pragma D option destructive

BEGIN
{
	freopen("/nowhere/at/all");
	printf("still here\n");
	exit(0);
}
