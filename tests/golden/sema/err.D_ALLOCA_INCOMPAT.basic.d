BEGIN
{
	p = (char *)alloca(4);
	p = timestamp > 9 ? NULL : p;
	p = timestamp > 9 ? (char *)77 : p;
}
