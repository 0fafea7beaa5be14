/* Arguments of every width, in memory: the variables of unoptimized functions.
 * run: -c '{programs}/markers_O0 3'
 * needs: uprobes
 * program: markers_O0
 */
#pragma D option quiet

dvmtest$target:::round-begin
{
	printf("%s %s: %d %s\n", probefunc, probename, arg0, copyinstr(arg1));
}

dvmtest$target:::widths
{
	printf("%d %d %d %d %d %d %d\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6);
}

dvmtest$target:::places
{
	printf("%d %d %d %d %d\n", arg0, arg1, arg2, arg3, arg4);
}

dvmtest$target:::constants
{
	printf("%d %d %x\n", arg0, arg1, arg2);
}

dvmtest$target:markers*:main:round-end
{
	printf("%s ends %d\n", probeprov == strjoin("dvmtest", lltostr($target)) ? "the round" : probeprov, arg0);
}
