/* @program: the providers of its markers are declared in it. */
typedef struct { int x; } nosuch_t;
shop1:::sold-item
{
	number = args[0];
	value = args[1]->value;
	name = args[2];
	tag = args[3]->next->name;
}
shop1:::other { x = args[0]->x; }
