struct s { int x; } __attribute__((aligned(NOSUCH)));
BEGIN { trace(sizeof (struct s)); }
