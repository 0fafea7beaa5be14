struct s { int number; };
struct s v;
BEGIN { trace(v.numbre); }
