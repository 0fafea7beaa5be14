inline int a = a + 1;
inline int f[int x] = x;
BEGIN { b[1] = 1; trace(b); trace(a); trace(f); }
