/* Layouts by __attribute__, as GCC has them; others are read over. */
#pragma D option quiet
struct packed { char c; int i; short s; } __attribute__((packed));
struct __attribute__((__packed__)) also_packed { char c; long l; };
struct member { char c; int i __attribute__((packed)); int j; };
struct aligned { int i; } __attribute__ ((aligned (16)));
struct of_aligned { char c; struct aligned a; };
struct member_aligned { char c; char d __attribute__((aligned(8))); };
struct with_packed { char c; struct packed p; };
struct packed_aligned { char c; int i; } __attribute__((packed, aligned(4)));
struct bits { unsigned a : 3; unsigned b : 12; unsigned c : 30; char d; } __attribute__((packed));
typedef unsigned long __attribute__((aligned(8))) same_t;
typedef int __attribute__((aligned(16))) wide_t;
struct of_wide { char c; wide_t w; };
typedef float vector_t __attribute__((__vector_size__ (16)));
struct of_vector { char c; vector_t v; };
struct computed { char c; char d __attribute__((aligned(2 * sizeof (long)))); };
struct by_struct { char c; char d __attribute__ ((aligned (__alignof__(struct of_wide)))); };
struct by_pointer { char c; char d __attribute__ ((aligned ((__alignof__ (struct by_struct *))))); };
struct nested { char c; char d __attribute__ ((aligned((((((16)))))))); };
struct product { char c; char d __attribute__ ((aligned ((2 * sizeof (char *))))); };
enum small { SMALL = 200 } __attribute__((packed));
int read_over __attribute__((unused, section("a (b)")));
extern int f(int) __attribute__((noreturn));

BEGIN
{
	printf("%d ", sizeof (struct packed)); printf("%d ", offsetof(struct packed, s));
	printf("%d ", sizeof (struct also_packed)); printf("%d ", offsetof(struct also_packed, l));
	printf("%d ", sizeof (struct member)); printf("%d ", offsetof(struct member, i)); printf("%d ", offsetof(struct member, j));
	printf("%d ", sizeof (struct aligned)); printf("%d ", sizeof (struct of_aligned)); printf("%d ", offsetof(struct of_aligned, a));
	printf("%d ", sizeof (struct member_aligned)); printf("%d ", sizeof (struct with_packed)); printf("%d ", offsetof(struct with_packed, p));
	printf("%d ", sizeof (struct packed_aligned)); printf("%d ", offsetof(struct packed_aligned, i));
	printf("%d ", sizeof (struct bits)); printf("%d ", offsetof(struct bits, d));
	printf("%d ", sizeof (same_t)); printf("%d ", sizeof (struct of_wide)); printf("%d ", sizeof (struct of_vector)); printf("%d ", offsetof(struct of_vector, v));
	printf("%d ", sizeof (struct computed)); printf("%d ", sizeof (struct by_struct)); printf("%d ", sizeof (enum small));
	printf("%d ", sizeof (struct by_pointer)); printf("%d ", sizeof (struct product)); printf("%d ", sizeof (struct nested));
	exit(0);
}
