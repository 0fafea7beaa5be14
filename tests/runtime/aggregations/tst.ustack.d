/* Stacks and symbols as keys: equal ones are one key, alone and beside others.
 * run: -c '{programs}/stacks'
 * needs: uprobes
 * mask: \+0x[0-9a-f]+
 */
#pragma D option quiet

pid$target:stacks:bottom:entry
{
	@[ustack(3)] = count();
	@b["a", ustack(2), arg0 < 5] = sum(arg0);
	@c[usym(ucaller)] = count();
	@d[umod(ucaller), probefunc] = count();
}

END
{
	printa(@);
	printa("%s%k%d %@d\n", @b);
	printa(@c);
	printa(@d);
}
