/* The kernel cannot raise a semaphore that lies outside of the file.
 * run: -x backend=uprobe -c '{programs}/markers_O0 2'
 * needs: uprobes
 * backend: uprobe
 * program: markers_O0
 * mask: (dvmzeros|dvmtest)\d+
 */
#pragma D option quiet

dvmzeros$target:::round,
dvmtest$target:::constants
{
	@[probename] = count();
}
