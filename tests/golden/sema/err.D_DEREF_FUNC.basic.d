int (*f)(int);
BEGIN { x = *f; y = f[1]; }
