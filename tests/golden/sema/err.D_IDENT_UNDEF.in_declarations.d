/* A number that cannot be computed is one error, not two. */
int a[none];
struct s { int b : no_width; };
enum e { A = no_value };
BEGIN { trace(sizeof (struct { int c[no_size]; })); }
