/* Markers take predicates, keys, strings and stacks like any probe; the caller is found by the frame pointer.
 * run: -c '{programs}/markers_O0 10'
 * needs: uprobes
 * program: markers_O0
 * mask: \+0x[0-9a-f]+
 */
#pragma D option quiet

dvmtest$target:::round-begin
/arg0 % 3 == 0/
{
	@names[copyinstr(arg1)] = sum(arg0);
	@stacks[ustack(2)] = count();
}

dvmtest$target:::*
{
	@probes[probename] = count();
}
