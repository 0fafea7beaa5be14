struct s { char c; int b:5; long l[3]; };
enum e { one = 1 };
inline int twice[int n] = n * 2;
int a[string, int];
BEGIN /pid == $pid && execname != "init"/
{
	this->p = (struct s *)alloca(sizeof (struct s));
	a["x", one] += this->p->b + twice[arg0 > 3 ? 1 : -2];
	printf("%d %s", this->p->l[1]++, strjoin(stringof(probefunc), "x"));
	@n[a["x", 1], tid] = quantize((unsigned char)arg1);
}
