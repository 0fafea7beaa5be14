static int a;
register int b;
auto int c;
inline self int d = 1;
inline extern int e = 1;
BEGIN { }
