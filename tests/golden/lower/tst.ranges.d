/* Values that fit their type without being extended to it, and those that do not. */
int x; unsigned u; char c; unsigned char b; short s; unsigned short h; long l; unsigned long v; int m[int];
struct f { int i; unsigned char b; char t[8]; };
this struct f *p;

/* Small ones. */
BEGIN { trace((c + 1) / 2); trace(-c >> 1); trace((b + h) % 7); trace(b - c < 0); trace((s << 3) == 5); trace(l = b * h); }
BEGIN { trace((x & 0xff) + 1 > 5); trace((arg0 & 7) << 3 > 5); trace((x > 3) + 1 > 1); trace((x % 100) * 3 / 2); trace(~b / 2); }
BEGIN { this->p = (struct f *)alloca(16); trace((this->p->b + 1) / 2); trace(this->p->t[b & 7] + 1 > 0); l = m[b + 1]; }

/* Without sign. */
BEGIN { trace(x == 5u); trace(x < 7u); trace(x != 0xffffffff); trace(b < u); trace(u > 3 && u < 9); trace((unsigned)x == u); }
BEGIN { trace(h - 1 > 3u); trace(u / 3); trace(u >> 3); trace((u & 0xf) == 3); trace(v > x); trace(pid == u); }

/* What a variable has been given is not loaded. */
BEGIN { x = 4; trace(x + 1); this->t = l + 1; trace(this->t * 2); c = x; trace(c); self->q = l; trace(self->q); }
BEGIN { x > 3 ? (x = 7) : 8; trace(x); }

/* What has to wrap. */
BEGIN { trace((x + 1) / 2); trace((x - 8) % 3); trace(-x >> 1); trace(x * 3 > 7); trace(x + 1 < x); trace(u + 1 > 5); }
BEGIN { l = x + 1; trace(x < u); trace(l = -x); trace(m[x + 1]); trace((x + x) / 3 > 1 ? 1 : 2); trace(~u > 3); }
