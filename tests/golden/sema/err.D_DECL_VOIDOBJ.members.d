void v;
void a[3];
struct s { void m; int f(int); };
inline void w = 0;
BEGIN { }
