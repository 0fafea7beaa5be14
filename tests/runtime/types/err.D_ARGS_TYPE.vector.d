/* run: -c '{programs}/types'
 * needs: uprobes
 */
pid$target:types:visit:entry
{
	trace(args[2]);
}
