/*
 * %A of a bare address: without -p or -c there is no process to look it up in.
 */
BEGIN
{
	printf("%A", arg0);
	exit(0);
}
