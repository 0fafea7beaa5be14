struct s { unsigned a:5; int b:3; _Bool c:1; _Bool d; long e:40; } ;
struct s v;
_Bool b;
BEGIN { v.a = 7; v.a += 30; trace(v.a += 30); trace(v.a - 40 < 0); trace(--v.b); v.c = 4; trace(b = 6); b--; trace(v.d++); }
