int a[3], b[3]; char text[8]; struct s { int m[2]; } v;
BEGIN { a = b; v.m = 0; x = text; }
