/* @program: the providers of its markers are declared in it. */
shop1:::sold-item
{
	number = args[0];
	value = args[1]->value;
	name = args[2];
	tag = args[3]->next->name;
}
