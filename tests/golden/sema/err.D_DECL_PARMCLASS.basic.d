int f(static int a);
int a[extern int];
int g(register int fine);
BEGIN { }
