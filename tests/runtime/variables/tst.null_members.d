/* NULL that is assigned to a string member, or to an element of an array of strings, leaves an empty string. */
#pragma D option quiet
struct inner { int a; string n; };
union either { string n; int k; };
struct outer { struct inner i; string list[2]; union either u; };
struct target { string n; };
translator struct target < string T > { n = T; };
translator struct target < int N > { n = NULL; };
struct inner g;
self struct inner t;
this struct inner local;
this struct target a, b, c;
struct inner element[int];
self struct inner mine[int];
struct outer o;
struct inner *p;
string none;
BEGIN { g.n = "abc"; g.n = NULL; g.a = 1; printf("global [%s] %d\n", g.n, g.a); }
BEGIN { self->t.n = "abc"; self->t.n = 0; printf("thread [%s] %d\n", self->t.n, self->t.n == ""); }
BEGIN { this->local.n = "abc"; this->local.n = NULL; printf("clause [%s] %d\n", this->local.n, strlen(this->local.n)); }
BEGIN { element[1].n = "abc"; element[1].n = NULL; element[2].n = NULL; printf("element [%s] [%s]\n", element[1].n, element[2].n); }
BEGIN { self->mine[1].n = "abc"; self->mine[1].n = NULL; printf("element of a thread [%s]\n", self->mine[1].n); }
BEGIN { o.i.n = o.list[0] = o.list[1] = o.u.n = "abc"; o.i.n = o.list[1] = o.u.n = NULL; }
BEGIN { printf("nested [%s] [%s] [%s] [%s]\n", o.i.n, o.list[0], o.list[1], o.u.n); }
BEGIN { p = (struct inner *)alloca(sizeof (struct inner)); p->n = "abc"; p->n = NULL; printf("by pointer [%s]\n", p->n); }
BEGIN { none = NULL; g.n = "abc"; g.n = none; printf("of a variable [%s]\n", g.n); none = "d"; g.n = none; printf("[%s]\n", g.n); }
BEGIN { g.n = "abc"; g.n = strchr("a", 'b'); printf("of a subroutine [%s]\n", g.n); g.n = strchr("ab", 'b'); printf("[%s]\n", g.n); }
BEGIN { g.n = "abc"; g.n = pid > 0 ? NULL : "d"; printf("of a conditional [%s]\n", g.n); }
BEGIN { none = NULL; this->a = xlate <struct target> (none); this->b = xlate <struct target> (5); this->c = xlate <struct target> ("e"); }
BEGIN { printf("translated [%s] [%s] [%s]\n", this->a.n, this->b.n, this->c.n); exit(0); }
