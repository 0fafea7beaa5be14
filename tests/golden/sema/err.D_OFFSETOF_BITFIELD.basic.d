struct b { int x:3; };
BEGIN { trace(offsetof(struct b, x)); }
