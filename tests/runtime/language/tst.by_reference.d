/* Structures, arrays and strings of any size in variables of every scope: zero at first, copied by value. */
#pragma D option quiet
struct in { char name[8]; int n; };
struct out { struct in a; struct in b[3]; struct in *p; int m[2][3]; };
struct out g, g2; self struct out s; this struct out t; struct out a[string, int]; struct in in1; int arr[10]; char buf[16];
struct big { char c[5000]; int last; }; struct big big; struct big bigs[int]; self struct big sb;
BEGIN {
 printf("%d %d %d %d\n", g.a.n, self->s.b[1].n, this->t.m[1][2], a["x", 1].a.n);
 g.a.n = 5; g.b[1].n = 7; g.m[1][2] = 9; g.b[2].name[0] = 'z';
 in1.n = 3; in1.name[0] = 'h'; in1.name[1] = 'i'; in1.name[2] = 0;
 g.b[0] = in1;
 printf("%d %d %d %s %d %s\n", g.a.n, g.b[1].n, g.m[1][2], stringof(g.b[0].name), g.b[0].n, stringof(g.b[2].name));
 g2 = g; g.a.n = 6; printf("%d %d\n", g2.a.n, g.a.n);
 self->s = g; self->s.a.n++; printf("%d %d\n", self->s.a.n, self->s.m[1][2]);
 this->t = self->s; this->t.m[1][2] += 5; printf("%d\n", this->t.m[1][2]);
 a["x", 1] = g; printf("%d\n", a["x", 1].b[1].n);
 a["x", 1].b[1].n = 70; printf("%d\n", a["x", 1].b[1].n);
 arr[3] = 4; arr[3]++; arr[9] = arr[3]; printf("%d %d\n", arr[3], arr[9]);
 big.last = 8; bigs[3] = big; self->sb = bigs[3]; printf("%d\n", self->sb.last);
 v = g; printf("%d\n", v.m[1][2]);
 self->w = in1; printf("%d %s\n", self->w.n, self->w.name);
 buf[0] = 'q'; printf("%s\n", stringof(buf)); 
 x = 0 ? g.a : g.b[0]; printf("%d %s\n", x.n, x.name);
 exit(0);
}
