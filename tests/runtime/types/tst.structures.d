/* Structures of the traced program by their names alone: what types.c prints of them, found by a tracer.
 * run: -c '{programs}/types'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:types:visit:entry
{
	printf("first %d %s %s %d; ", args[0]->value, stringof(args[0]->name), args[0]->tag, args[0]->color);
	printf("bits %u %d %#x %u\n", args[0]->bits.low, args[0]->bits.mid, args[0]->bits.wide, args[0]->bits.flag);
	this->next = args[0]->next;
	printf("second %d %s %d ", args[0]->next->value, stringof(args[0]->next->name), args[0]->next->color);
	printf("place %d,%d ", this->next->place.x, this->next->place.y);
	printf("number %#x byte %d; grid %d\n", this->next->number, this->next->bytes[1], args[0]->list->grid[1][2]);
}

pid$target:types:visit:entry
{
	printf("node %d: next %d color %d number %d place %d weight %d\n", sizeof (struct node), offsetof(struct node, next),
	    offsetof(struct node, color), offsetof(struct node, number), offsetof(struct node, place),
	    offsetof(struct node, weight));
	printf("list %d: grid %d; odd %d: small %d; bits %d\n", sizeof (struct list), offsetof(struct list, grid),
	    sizeof (types`odd_t), offsetof(a.out`odd_t, small), sizeof (struct bits));
}

pid$target:types:visit:entry
{
	printf("by cast %d, scoped %d, typed %d\n", ((struct node *)arg0)->value,
	    ((types`struct node *)arg0)->next->value, ((const struct `node *)arg0)->value);
	printf("string %s, compared %d, %d long\n", strjoin(args[0]->name, "!"), args[0]->name == "first",
	    strlen(args[0]->name));
}
