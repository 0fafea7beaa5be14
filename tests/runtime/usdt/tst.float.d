/* An argument that is no integer reads 0, and dvm says so; those behind it are where they are.
 * run: -c '{programs}/markers_O0 2'
 * needs: uprobes
 * backend: uprobe
 * program: markers_O0
 * mask: dvmtest\d+
 */
#pragma D option quiet

dvmtest$target:::numbers
{
	printf("%d %d\n", arg0, arg1);
}
