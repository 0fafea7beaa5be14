/* Structures of the traced program as members lie where C puts them.
 * run: -c '{programs}/types'
 * needs: uprobes
 */
#pragma D option quiet

struct holds {
	char one;
	struct types`node node;
	char two;
	struct types`node nodes[2];
	char three;
	struct types`bits bits;
};

pid$target:types:visit:entry
{
	printf("%d %d %d %d\n", offsetof(struct holds, node), offsetof(struct holds, nodes) - sizeof (struct node),
	    sizeof (struct holds) - 3 * sizeof (struct node), offsetof(struct holds, bits) - offsetof(struct holds, three));
	this->holds = (struct holds *)alloca(sizeof (struct holds));
	this->holds->nodes[1].value = 7;
	this->holds->two = 1;
	trace(this->holds->nodes[1].value);
	exit(0);
}
