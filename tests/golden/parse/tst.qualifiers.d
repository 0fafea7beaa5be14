/* Qualifiers are no part of a type's name. */
const char *a;
char const *const b;
volatile unsigned int *volatile restrict c;
const d;
struct s { const int x; signed y; };
int (*compare)(const void *, struct s *restrict, ...);
int (*nothing)(void);
int (*unknown)();
