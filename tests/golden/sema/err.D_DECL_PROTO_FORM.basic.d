int f(int a, char a);
inline int twice[int x, int x] = x + x;
BEGIN { }
