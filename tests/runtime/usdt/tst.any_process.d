/* A pattern for a provider, without a process, means every process that has it.
 * run: -c '{programs}/markers_O0 3'
 * needs: uprobes
 * program: markers_O0
 */
#pragma D option quiet

dvmtest*:::round-begin
/pid == $target/
{
	printf("%s %d\n", probename, arg0);
}
