/* What is computed once, not at all, or with few registers. */
int x, y, a, b, c, d, e, f, g, h, i;
struct s { int i; struct { long m[4]; } n; };
this struct s *p;

/* Constants and identities. */
BEGIN { trace(x * 0 + (y & 0) + 5 * 2); trace(x + 0 == x); trace("a" == "b" ? 1 : 2); trace(1 || x++); trace(0 && x++); }

/* The second of two equal values, unless what it reads was changed. */
BEGIN { trace((x + y) * (x + y)); trace(x + x++ + x); trace(arg0 > 5 && arg0 < 9 ? arg0 : 0); trace(rand() + rand()); }
BEGIN { this->p = (struct s *)alloca(40); this->p->n.m[2] = this->p->n.m[1] + this->p->n.m[1]; }

/* A divisor may be 0: the fault is kept. */
BEGIN { trace((x / y) * 0); trace((x / 3) * 0); }

/* More values than registers, if all were loaded in their turn. */
BEGIN { x = a + (b + (c + (d + (e + (f + (g + (h + (i + (x + y))))))))); }
BEGIN { x = 100 * (a + 101 * (b - 102 * (c + 103 * (d - 104 * (e + 105 * (f - 106 * (g + 107 * (h - 108)))))))); }

/* Loaded before the paths of which one stores. */
BEGIN { trace(x + (y ? 1 : (x = 2))); }
