void *v; int (*f)(void); struct s { int a; } r;
BEGIN { v++; --f; v += 1; f -= 2; r += 1; }
