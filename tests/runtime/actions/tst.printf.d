/* Flags, widths and precisions.
 * status: 5
 */
#pragma D option quiet

BEGIN
{
	printf("[%6d] [%-6d] [%06d] [%+d] [%x] [%#x] [%o] [%c]\n", 42, 42, 42, 42, 255, 255, 8, 'x');
	printf("[%8s] [%-8s] [%.3s] [%*d] [%-*s|]\n", "right", "left", "cutting", 5, 7, 6, "ab");
	printf("[%u] [%lld] [%d%%]\n", 4294967295, 1234567890123, 50);
	printf("[%p]\n", (void *)0x1f);
	exit(5);
}
