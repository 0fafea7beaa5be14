/* Of a translation only the member that is named is evaluated: a null pointer is no fault where the member does not follow it. */
#pragma D option quiet
struct in { int a; struct in *next; };
struct out { int fixed; int size; string state; int a; };
translator struct out < struct in *P > { fixed = 7; size = sizeof (P->next); state = P == NULL ? "none" : "some"; a = P->next->a; };
translator struct out < struct in V > { fixed = 8; a = V.a; };
BEGIN
{
	this->p = (struct in *)NULL;
	printf("%d %d %s\n", xlate <struct out> (this->p).fixed, xlate <struct out *> (this->p)->size, xlate <struct out> (this->p).state);
	printf("%d\n", xlate <struct out> (*this->p).fixed);
	exit(0);
}
