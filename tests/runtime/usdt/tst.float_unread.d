/* An argument that is no integer is no concern of a clause that reads others.
 * run: -c '{programs}/markers_O0 2'
 * needs: uprobes
 * backend: uprobe
 * program: markers_O0
 * mask: dvmtest\d+
 */
#pragma D option quiet

dvmtest$target:::numbers
{
	printf("%d\n", arg1);
}
