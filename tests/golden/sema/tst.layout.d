struct s { char c; int i; short h; long l; long t; }; union u { int i; char b[7]; }; struct bf { int a:3; int b:7; unsigned c:1; };
struct empty_unit { char a:4; int b:30; int :0; char c; };
enum sizes { S = sizeof (struct s), U = sizeof (union u), BF = sizeof (struct bf), E = sizeof (struct empty_unit), H = offsetof(struct s, h), L = offsetof(struct s, l), STR = sizeof (string), LIT = sizeof ("abc") };
struct s vs; union u vu; struct bf vb; struct empty_unit ve; int a[S], b[U], c[BF], d[E], e[H], f[L];
BEGIN { x = S; }
