/* Only scratch can be written to, and a pointer that was made of a number is none. */
BEGIN
{
	from = (char *)alloca(4);
	to = (char *)77;
	bcopy(from, to, 4);
	self->to = to;
	copyinto(4096, 4, self->to);
	bcopy(from, from + 1, 2);
}
