/* @program: types, variables and constants of the traced program; a type of the script wins. */
struct color { int mine; };
pid1:a.out:visit:entry
{
	node = (struct node *)arg0;
	next = ((struct a.out`node *)arg0)->next;
	alias = (a.out`node_t *)arg0;
	plain = (node_t *)arg0;
	value = args[0]->value;
	depth = args[1];
	small = args[3];
	color = args[0]->next->color;
	x = args[0]->x;
	whole = *args[0];
	number = `counter;
	address = &a.out`bare;
	element = a.out`table[2];
	constant = args[0]->next->color == GREEN ? 1 : 2;
	scoped = a.out`GREEN;
	size = sizeof (struct node) + offsetof(struct node, y) + sizeof (struct color);
	text = stringof(args[0]->name);
	sizes = sizeof (`table) + sizeof (a.out`table[2]) + sizeof (`counter);
	indexed = ((index_t *)arg0)->value;
}
pid1:a.out:visit:return { word = args[0]; result = args[1]->value; }
