#pragma D option quiet

replay:::firing
{
	@n[execname] = count();
	@total[execname] = sum(arg1);
	@mean[execname] = avg(arg1);
	@least[execname] = min(arg1);
	@most[execname] = max(arg1);
	@spread[execname] = stddev(arg1);
}

END { printa("%-16s %@8d %@10d %@6d %@6d %@6d %@6d\n", @n, @total, @mean, @least, @most, @spread); }
