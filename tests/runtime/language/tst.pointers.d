/* Pointers, members, strings in structures, and the operators on them. */
#pragma D option quiet
struct s { int a; string name; char c[4]; struct s *next; };
struct s v;
BEGIN {
 v.name = "hello"; printf("%s %d\n", v.name, sizeof(v)); 
 this->p = (struct s *)alloca(sizeof (struct s) * 3);
 this->p->a = 1; this->p->next = this->p + 1; this->p->next->a = 2; (this->p + 2)->a = 3; this->p[2].next = 0;
 printf("%d %d %d\n", this->p->a, this->p->next->a, this->p[2].a);
 this->q = &this->p->next->a; *this->q = 77; printf("%d %d\n", this->p[1].a, *this->q);
 this->r = &this->p[1]; printf("%d %d\n", this->r - this->p, this->r > this->p);
 this->r++; printf("%d\n", this->r->a); this->r -= 2; printf("%d\n", this->r->a);
 printf("%d\n", this->p == NULL); printf("%d\n", this->p[2].next == 0);
 *this->p = v; printf("%s\n", this->p->name);
 this->p->c[1] = 'x'; printf("%c\n", this->p->c[1]);
 n = 0; n ^= 5; n <<= 2; n |= 1; n %= 4; printf("%d\n", n);
 str = "abc"; str2 = str; printf("%d %d %d\n", str == str2, str < "abd", "b" >= str);
 t = 1 ? "x" : str; printf("%s\n", t);
 c = (char *)alloca(4); c[0] = 'o'; c[1] = 'k'; c[2] = 0; one = 1; u = one ? c : "no"; printf("%s\n", u);
 printf("%d\n", c == "ok"); printf("%d %c\n", 2[this->p].a, (one)[c]);
 i = (1, 2); printf("%d\n", i); printf("%d\n", (i = 5, i + 1)); printf("%d %d %d\n", 1 ^^ 1, 1 ^^ 0, 0 ^^ 0);
 m[1, "a"] = 1; ++m[1, "a"]; m[1, "a"] += 3; printf("%d\n", m[1, "a"]); self->z++; this->k = 1; this->k--; printf("%d %d\n", self->z, this->k);
 exit(0);
}
