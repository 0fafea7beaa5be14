/* A marker is left out if a clause reads an argument that cannot be read, and named with the reason.
 * run: -c '{programs}/markers_O0 2'
 * needs: uprobes
 * backend: uprobe
 * program: markers_O0
 * mask: dvmtest\d+|(?<='16f@)[^']+
 */
#pragma D option quiet

dvmtest$target:::numbers
{
	trace(arg3);
}

dvmtest$target:::constants
{
	trace(arg0);
}
