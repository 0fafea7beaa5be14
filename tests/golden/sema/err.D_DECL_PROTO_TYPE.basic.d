struct s { int a; };
int a[struct s];
