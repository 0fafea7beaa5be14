/* A member without a bound, at the end of a structure: any index is right. */
#pragma D option quiet

struct packet { int size; char data[]; };
struct old { int size; char data[0]; };

BEGIN
{
	this->p = (struct packet *)alloca(16);
	bcopy("abcdef", this->p->data, 6);
	this->i = 2;
	printf("%c%c %s", this->p->data[1], this->p->data[this->i], stringof(this->p->data));
	printf(" %c %d\n", ((struct old *)this->p)->data[3], sizeof (struct packet));
	exit(0);
}
