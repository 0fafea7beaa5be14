struct s { int a; } v; int a[3]; string str;
BEGIN { v++; --a; str++; !v; v && 1; v ? 1 : 2; }
