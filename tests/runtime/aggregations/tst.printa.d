/* printa with a format, without one, and with several aggregations. */
#pragma D option quiet

BEGIN
{
	@n["read", 3] = count(); @n["write", 4] = count(); @n["write", 4] = count();
	@b["read", 3] = sum(512); @b["write", 4] = sum(-8);
	printa("%-8s %4d: %@d\n", @n);
	printa(@n);
	printa("%s %d %@d calls %@d bytes\n", @n, @b);
	exit(0);
}
END { clear(@n); clear(@b); trunc(@n); trunc(@b); }
