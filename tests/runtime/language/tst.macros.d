/* $1 is what was given, $$2 the same as a string.
 * run: 17 'two words' 0x20
 */
#pragma D option quiet

BEGIN
{
	printf("%d [%s] %d %d\n", $1, $$2, $3, $pid > 0);
	exit(0);
}
