struct s { int a; };
struct s v;
BEGIN { @[(void)1] = count(); }
BEGIN { array[v] = 1; }
