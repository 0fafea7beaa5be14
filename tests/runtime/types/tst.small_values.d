/* Values that are smaller than their registers.
 * run: -c '{programs}/values'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:values:answer:entry
{
	printf("answer %d %s\n", args[0], args[0] ? "yes" : "no");
}
