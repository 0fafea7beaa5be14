/* run: -c '{programs}/values'
 * needs: uprobes
 */
pid$target:values:spell:entry
{
	trace(args[0].first[1]);
}

pid$target:values:spell:entry
{
	print(args[0]);
}
