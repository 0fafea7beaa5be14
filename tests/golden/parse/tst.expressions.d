BEGIN {
	a = b = c ? d : e ? f : g, h;
	x = 1 + 2 * 3 - 4 / 5 % 6 << 7 >> 8;
	x = a < b == c >= d & e ^ f | g && h ^^ i || j;
	x += 1; x -= 1; x *= 1; x /= 1; x %= 1; x &= 1; x |= 1; x ^= 1; x <<= 1; x >>= 1;
	!~-+*&a++; ++--b; (a)[1, 2].c->d[3]--;
	(int)x; (struct s *)x + 1; (unsigned long)(a, b); sizeof (int) + sizeof a; sizeof (a)[1];
	stringof(a); offsetof(struct s, m); xlate < struct out > (&src).sum;
	self->a[1] = this->b; @ = count(); @n[a, "k"] = sum(1); f(); g(1, h(2));
	0x1F; 017u; 10l; 5ULL; 'a'; 'ab'; '\''; "tab\t\"q\" \x41\101"; $1 + $$2 + $target;
}
