struct t { int a; };
struct s { int; struct t; struct u { int b; }; union { int c; struct { int d; }; }; };
BEGIN { }
