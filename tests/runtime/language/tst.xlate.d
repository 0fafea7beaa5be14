#pragma D option quiet

struct in { int len; int flags; char name[12]; struct in *next; };
typedef struct in in_t;
typedef struct out { int size; long twice; string text; char short_text[8]; unsigned low : 4; unsigned high : 4; int none; } out_t;
translator out_t < struct in *P > {
	size = P->len;
	twice = P->len * 2 + P->len;
	text = stringof(P->name);
	short_text = "a long text";
	low = P->flags; high = P->flags >> 4;
};
translator out_t < int N > { size = N; twice = N + N; };
inline out_t *five = xlate <out_t *> (5);

BEGIN
{
	this->p = (struct in *)alloca(sizeof(struct in));
	this->p->len = 21; this->p->flags = 0x73;
	this->p->name[0] = 'h'; this->p->name[1] = 'i'; this->p->name[2] = 0;
	printf("%d %d\n", xlate <out_t *> (this->p)->size, xlate <out_t *> ((in_t *)this->p)->twice);
	printf("%d %d\n", five->size, five->twice);
	printf("%d\n", xlate <out_t> (this->p).twice);
	this->o = xlate <out_t> (this->p);
	printf("%d %d %s %s %d %d %d\n", this->o.size, this->o.twice, this->o.text, stringof(this->o.short_text), this->o.low, this->o.high, this->o.none);
	this->x = 7;
	printf("%d\n", xlate <out_t> (this->x++).twice); 
	printf("%d\n", this->x);
	g = *five;
	printf("%d %d [%s]\n", g.size, g.twice, g.text);
	exit(0);
}
