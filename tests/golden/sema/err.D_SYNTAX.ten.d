/* Ten mistakes, of which each has its message, and nothing else has one. */
int known
int x;

BEGIN
{
	total = 1 +;
	trace(missing);
	trace(total);
	printf("%d %d", 1);
	y = (2 * 3;
	trace(y + strlen(1, 2));
}

BEGIN
/pid = = 1/
{
	if (1) { trace(1 2); } else { trace("a" "b"); }
	trace("never closed);
	trace(self->nothing);
}

struct s { int a; int b c; int d; };
END
{
	@a = count(;
	z = 08;
}
