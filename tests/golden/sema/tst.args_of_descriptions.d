/* @program: each description of a clause has arguments of its own. */
pid1:a.out:visit:entry, pid1:a.out:find:entry
/args[0] != NULL/
{
	trace(sizeof (*args[0]));
}
pid1:a.out:visit:entry, pid1:a.out:find:entry
{
	if (args[1])
		trace(args[0]);
}
