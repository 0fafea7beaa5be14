struct s { struct s { int a; } b; };
union u { int a; };
union u { int a; };
enum e { A };
enum e { B };
BEGIN { }
