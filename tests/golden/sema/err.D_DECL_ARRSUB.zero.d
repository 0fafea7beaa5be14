int a[0];
int b[-1];
int c[pid];
typedef int none_t[];
none_t d;
BEGIN { }
