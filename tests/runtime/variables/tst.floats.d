/* Floating point is shown, by trace(), as a key and by a format; and enumerators are found below their bits. */
#pragma D option quiet

typedef double weight_t;
enum sign { MINUS = -1, ZERO, PLUS };
struct scale {
	weight_t weight;
	float factor;
	enum sign sign : 2;
};
struct scale one, two;

BEGIN {
	this->scale = (struct scale *)alloca(sizeof (struct scale));
	*(uint64_t *)&this->scale->weight = 0x3ff8000000000000;	/* 1.5 */
	*(uint32_t *)&this->scale->factor = 0xc0200000;		/* -2.5 */
	this->scale->sign = MINUS;
	one = *this->scale;
	*(uint64_t *)&this->scale->weight = 0xc008000000000000;	/* -3 */
	two = *this->scale;
	trace(one.weight);
	printf(" %.2f ", one.factor);
	trace(two.factor);
	printf("\n");
	print(one);
	@[one.weight] = count();
	@[two.weight] = count();
	exit(0);
}
