struct b { int x:3; };
struct b v;
BEGIN { trace(sizeof (v.x)); }
