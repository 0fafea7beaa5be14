typedef struct pair { int a, b; } pair_t;
struct { int x; } unnamed;
int *a[3]; int (*b)[3]; int (*c)(void); char *(*d[2])(int, const char *, ...); const volatile char *const *e;
pair_t f, *g, h[2][3]; enum color { RED } i; unsigned long long int j; string k; void **l; int (*(*m)(long))[4];
int n[string, pair_t *, int (*)(void)]; self pair_t *o[int][2]; unsigned char p; signed q; short r; double t; long double u;
struct later *v; _Bool w; caddr_t x; int (**y)[2][3];
extern int function(struct later *, int [3], char (*)(void)); 
BEGIN { }
