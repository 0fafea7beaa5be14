/* A double or float is the bits of argN, and a number in a declared args[N].
 * run: -c '{programs}/markers_O0 2'
 * needs: uprobes
 * backend: uprobe
 * program: markers_O0
 * mask: dvmtest\d+
 */
#pragma D option quiet

provider dvmtest { probe numbers(double, long, float); };

dvmtest$target:::numbers
{
	printf("%x %d %x\n", arg0, arg1, (unsigned)arg2);
	printf("%f %.1f ", args[0], args[2]);
	trace(args[0]);
	printf("\n");
	@[args[0]] = sum(args[1]);
}
