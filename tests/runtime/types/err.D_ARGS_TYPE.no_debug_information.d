/* run: -c '{programs}/types_bare'
 * needs: uprobes
 */
pid$target:types_bare:visit:entry
{
	trace(args[0]->value);
}
