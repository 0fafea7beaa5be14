/* An agent raises a semaphore wherever the process has it.
 * run: -x backend=agent -c '{programs}/markers_O0 2'
 * program: markers_O0
 * backend: agent
 */
#pragma D option quiet

dvmzeros$target:::round
{
	@[probename] = count();
}
