/* One clause on two functions: args[] has the types of each.
 * run: -c '{programs}/types'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:types:visit:entry, pid$target:types:find:entry
{
	printf("%s: %d bytes\n", probefunc, sizeof (*args[0]));
}
