int g; self int t; this char c; string names[int, string]; uint8_t small;
BEGIN {
	x = 1; y = 1u; z = 1L; s = "text"; ts = timestamp; p = (int *)8; k++; self->n++; this->u = g + self->t;
	a["x", 1] = 5L; self->m[tid] = execname; big = 0xffffffffffffffff; ch = 'a'; cmp = "a" < "b"; c2 = (char)1;
}
