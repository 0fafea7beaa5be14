struct s { int a[4]; };
struct s v;
BEGIN { trace(v.a[4]); }
