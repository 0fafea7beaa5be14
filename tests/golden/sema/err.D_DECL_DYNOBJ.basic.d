int a[3][int];
typedef int t[int];
struct s { int m[string]; };
int (*p)[int];
BEGIN { }
