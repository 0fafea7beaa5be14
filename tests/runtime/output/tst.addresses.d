/* %A prints an address of the traced program as its symbol, in its field; %a is for addresses of the kernel, whose symbols are not
 * known.
 * run: -c '{programs}/looper 1000000000'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:looper:main:entry
{
	printf("[%A] [%-15A] [%15A] [%a]\n", uregs[R_RIP], uregs[R_RIP], uregs[R_RIP], 0x10);
	exit(0);
}
