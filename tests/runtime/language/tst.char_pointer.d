/* A pointer to a string of the program may be kept, and followed in any clause. */
#pragma D option quiet
char *s;
char *table[int];

BEGIN
{
	s = "abc";
	table[1] = "defg";
	self->p = (char *)"hi";
}

BEGIN
/s[1] == 'b'/
{
	printf("%c %c %d %s %c\n", s[0], table[1][3], s[3], stringof(s + 1), *self->p);
	exit(0);
}

ERROR
{
	exit(1);
}
