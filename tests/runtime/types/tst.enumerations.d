/* Enumerations without an underlying type are unsigned unless a constant is negative.
 * run: -c '{programs}/ranks'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:ranks:enlist:entry
{
	printf("%d %d\n", args[0]->rank, args[0]->shift);
}
