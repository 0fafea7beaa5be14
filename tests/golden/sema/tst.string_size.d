#pragma D option strsize=100
struct s { string name; int after; };
enum { SIZE = sizeof (string), AFTER = offsetof(struct s, after) };
int a[SIZE], b[AFTER];
BEGIN { }
