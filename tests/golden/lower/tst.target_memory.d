/* @program: what lies in the traced process is loaded by uld*, copied in as a whole, and read as a string by copyinstr(). */
pid1:a.out:visit:entry
{
	trace(args[0]->value);
	trace(args[0]->next->color);
	trace(args[0]->low);
	trace(args[0]->next->y);
	trace(args[1]);
	trace(args[3]);
	trace(args[0]->tag[2]);
	trace(stringof(args[0]->name));
	trace(stringof(args[0]->tag));
	trace(args[0]->tag);
	trace(*args[0]);
	trace(a.out`counter);
	trace(a.out`table[2]);
	trace(`first.next->value);
	trace(&`bare);
	trace(args[0]->name == "x");
	trace(strlen(args[0]->name));
	self->node = args[0];
	trace(self->node->value);
	this->copy = *args[0];
	trace(sizeof (`color));
	@[args[0]->next->value, stringof(args[0]->name)] = sum(args[1]);
}
