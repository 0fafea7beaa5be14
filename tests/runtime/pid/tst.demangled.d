/*
 * run: -c '{programs}/classes'
 * needs: uprobes
 *
 * A member function by its symbol and by its name: both print the name, as does probefunc.
 */

pid$target:classes:_ZN3zoo3Cat4feed*:entry
{
	trace(probefunc);
}

pid$target:classes:zoo??Cat??feed:return
{
	@[probefunc, probename] = count();
}
