struct in { int len; char name[12]; };
struct out { int size; long twice; string text; unsigned low : 4; };
translator struct out < struct in *P > { size = P->len; twice = P->len + P->len; text = stringof(P->name); low = P->len; };
translator struct out < int N > { size = 1; twice = N + N; };

BEGIN
{
	this->p = (struct in *)alloca(sizeof (struct in));
	trace(xlate <struct out *> (this->p)->size);
	trace(xlate <struct out> (this->x++).twice);
	trace(xlate <struct out *> (this->x++)->size);
	this->whole = xlate <struct out> (this->p);
}
