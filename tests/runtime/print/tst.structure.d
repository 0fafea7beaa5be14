/*
 * print(): a structure with the types, names and values of its members: integers in hexadecimal, enumerators by name, arrays in
 * brackets, bit-fields with their width, structures within structures and arrays indented.
 */
#pragma D option quiet

enum color { RED, GREEN = 7 };
struct place { short x; short y; };
typedef unsigned int flags_t;
union either { int number; char letters[4]; };

struct node {
	int id;
	char tag[8];
	char raw[2];
	enum color known;
	enum color unknown;
	flags_t low : 3;
	flags_t high : 9;
	struct place at[2];
	int list[3];
	struct place one;
	struct node *next;
	unsigned char byte;
	char letter;
	union either u;
	long long wide;
};

BEGIN
{
	this->n = (struct node *)alloca(sizeof (struct node));
	this->n->id = 42;
	this->n->tag[0] = 'h';
	this->n->tag[1] = 'i';
	this->n->raw[0] = 'a';
	this->n->raw[1] = '\n';
	this->n->known = GREEN;
	this->n->unknown = 3;
	this->n->low = 5;
	this->n->high = 257;
	this->n->at[0].x = 1;
	this->n->at[0].y = -1;
	this->n->at[1].x = 2;
	this->n->list[0] = 16;
	this->n->list[2] = 255;
	this->n->one.y = 3;
	this->n->next = (struct node *)0x1234;
	this->n->byte = 200;
	this->n->letter = 'z';
	this->n->u.number = 0x4241;
	this->n->wide = -1;
	print(*this->n);
	exit(0);
}
