/* The working directory and root of the process, the place of its CPU, and who its ancestors are.
 * run: -c '{programs}/victim 1 5000'
 * needs: uprobes
 */
#pragma D option quiet
BEGIN { own = pid; here = cwd; }
pid$target:victim:step:entry
{
	printf("%d %s %d %d\n", cwd == here, root, curcpu->cpu_id == cpu, curcpu->cpu_chip == chip);
	printf("%d %d %d %d\n", progenyof(pid), progenyof(own), progenyof(1), progenyof($target + 1));
	exit(0);
}
