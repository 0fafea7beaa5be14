/* Variables of the program, captured when a probe fires: they are had though the program has ended by the time the clause runs.
 * BEGIN reads them of the program that waits to be started.
 * run: -c '{programs}/types'
 * needs: uprobes
 */
#pragma D option quiet

BEGIN
{
	printf("before %d %s\n", `counter, stringof(`title));
}

pid$target:types:visit:entry,
pid$target:types:visit:return
{
	printf("%s %d %s %d %s\n", probename, `counter, stringof(`title), a.out`table[2], `greeting);
	printf("%d %s %d %d; ", `static_node.value, stringof(`static_node.name), `static_node.color, `odd.small);
	printf("%d %d\n", types`list.head->next->value, `list.grid[1][2]);
}
