/* Translators on structures, pointers and integers, found exactly, through typedefs, and as an argument would fit. */
struct in { int len; int flags; struct in *next; };
typedef struct in in_t;
typedef int number_t;
typedef struct out { int size; string text; char short_text[8]; int none; } out_t;
translator out_t < struct in *P > { size = P->len; text = "pointer"; };
translator out_t < in_t S > { size = S.len; };
translator out_t < int N > { size = N; };
translator out_t < number_t N > { size = N + 1; };
struct outer { long sum; };
translator struct outer < struct in *P > { sum = xlate <out_t *> (P)->size + xlate <out_t> (P->next).size; };
inline out_t *five = xlate <out_t *> (5);
BEGIN
{
	this->p = (in_t *)alloca(sizeof (in_t));
	this->by_pointer = xlate <out_t *> (this->p)->size;
	this->by_value = xlate <out_t> (*this->p).size;
	this->by_integer = xlate <struct out> ('x').size;
	this->by_typedef = xlate <out_t *> ((number_t)1)->size;
	this->nested = xlate <struct outer *> (this->p)->sum;
	this->through_inline = five->size;
	this->whole = *five;
}
