int a`b;
struct s { int a`b; };
enum e { a`b };
BEGIN { }
