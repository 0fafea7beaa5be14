/* The user stack at entries and returns, as an action, of the depth that options or arguments say: the probed function first.
 * The return of middle() lies on its exit, since a uretprobe would end the walks of bottom().
 * run: -c '{programs}/stacks'
 * needs: uprobes
 * mask: \+0x[0-9a-f]+
 */
#pragma D option quiet
#pragma D option ustackframes=3

pid$target:stacks:bottom:entry
/arg0 == 7/
{
	ustack();
	ustack(2);
	printf("depth is %s\n", ustackdepth > 3 ? "over 3" : "3 or less");
}

pid$target:stacks:middle:return
/!done++/
{
	ustack(3);
}

pid$target:stacks:deep:entry
/arg0 == 0/
{
	ustack(7, 64);
	usym(ucaller);
	umod(ucaller);
	ufunc(arg0);
	printf("|\n");
	stack();
}
