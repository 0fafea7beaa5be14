/* Structures and unions as keys are compared by their bytes. 0 gives an element back. */
#pragma D option quiet
struct crate { int w; char c; } k, m;
union bin { int w; char c[4]; } u, v;
struct crate kept[string];
self struct crate own;
BEGIN
{
	k.w = 4; k.c = 67; m.w = 4; m.c = 67;
	held[k, "a"] = 21;
	printf("%d ", held[m, "a"]); m.w = 5; printf("%d\n", held[m, "a"]);
	u.w = 46; v.w = 46; binned[u] = 33;
	printf("%d ", binned[v]); v.c[0] = 47; printf("%d\n", binned[v]);
	kept["a"] = k; printf("%d ", kept["a"].w); kept["a"] = 0; printf("%d\n", kept["a"].w);
	self->own = k; printf("%d ", self->own.w); self->own = 0; printf("%d\n", self->own.w);
	printf("%d %d\n", sizeof (struct D`crate), offsetof(union D`bin, c));
	exit(0);
}
ERROR { exit(1); }
