/* The kernel shows no vector register to a uprobe.
 * run: -x backend=uprobe -c '{programs}/markers_O0 2'
 * needs: uprobes
 * backend: uprobe
 * program: markers_O0
 * mask: dvmtest\d+
 */
#pragma D option quiet

dvmtest$target:::vectors
{
	trace(arg2);
}

dvmtest$target:::vectors,
dvmtest$target:::constants
{
	@ = count();
}
