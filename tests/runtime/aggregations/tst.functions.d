/* Each function over the same values, without a key and with two. */
#pragma D option quiet

BEGIN
{
	@count = count(); @count = count(); @count = count();
	@sum = sum(10); @sum = sum(-4);
	@avg = avg(7); @avg = avg(2);
	@min = min(5); @min = min(-5);
	@max = max(5); @max = max(50);
	@signed = max((uint64_t)-1);
	@keyed["b", 2] = sum(1); @keyed["a", 3] = sum(1); @keyed["a", -3] = sum(9);
	exit(0);
}
