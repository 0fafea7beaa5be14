int previous, where;

replay:::firing
/tid != previous || cpu != where/
{
	previous = tid;
	where = cpu;
	changes++;
	@to[execname, tid] = count();
}
END { printf("%d changes\n", changes); }
