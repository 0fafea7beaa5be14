/* Members of structures as they were at the firing, through pointers and in predicates, though a position-independent program overwrites all of
 * it right after the call.
 * run: -c '{programs}/objects'
 * needs: uprobes
 */
#pragma D option quiet

struct name { short length; char *text; };
struct node { int kind; unsigned char flags; long value; struct name *name; struct node *next; int table[4]; };

pid$target::visit:entry
/((struct node *)arg0)->kind == 1 && stringof((char *)arg1) != "nothing"/
{
	printf("%s: kind %d, flags %x, value %d, %d letters\n", stringof((char *)arg1), ((struct node *)arg0)->kind,
	    ((struct node *)arg0)->flags, ((struct node *)arg0)->value, ((struct node *)arg0)->name->length);
}

pid$target::visit:entry
{
	this->node = (struct node *)arg0;
	printf("next is %s, then %d of %d letters, table %d %d\n", copyinstr((uintptr_t)this->node->next->name->text),
	    this->node->next->next->kind, this->node->next->next->name->length, this->node->table[1], this->node->next->table[1]);
}

pid$target::leave:entry
{
	@values[stringof((*(struct node **)arg0)->name->text)] = sum((*(struct node **)arg0)->value);
}

pid$target::leave:entry
/(*(struct node **)arg0)->next->next->next == 0/
{
	printf("the end\n");
}
