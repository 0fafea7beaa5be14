/* args[ ] as the functions of types.c declare them, on entry and return.
 * run: -c '{programs}/types'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:types:visit:entry
{
	printf("visit %d %d\n", args[1], args[3]);
}

pid$target:types:find:entry
{
	printf("find %s %d in %d\n", stringof(args[1]), args[2], args[0]->count);
	self->head = *args[0]->head;
}

pid$target:types:find:return
{
	printf("found %d %s, head was %d %s\n", args[1]->value, stringof(args[1]->name), self->head.value, self->head.tag);
}

pid$target:types:make_big:entry
{
	printf("make_big %d %d\n", args[0], args[2]);
}

pid$target:types:make_big:return
{
	printf("big %d %d\n", args[1].words[0], args[1].words[3]);
}

pid$target:types:many:entry
{
	printf("many %d %d %d %d\n", args[0], args[5], args[6], args[7]);
}
