/* print() with types of the traced program: what visit() of types.c is passed, as its debug information has it.
 * run: -c '{programs}/types'
 * needs: uprobes
 * mask: 0x[0-9a-f]{6,}
 */
#pragma D option quiet

pid$target:types:visit:entry
{
	print(*args[0]);
	print(args[0]->color);
	print(args[0]->tag);
	exit(0);
}
