replay:::firing
{
	@n[execname, cpu] = count();
	@avg[execname, cpu] = avg(arg1);
	@sd[execname, cpu] = stddev(arg1);
}
END
{
	printf("%-16s %4s %8s %8s %8s\n", "COMM", "CPU", "COUNT", "AVG", "STDDEV");
	printa("%-16s %4d %@8d %@8d %@8d\n", @n, @avg, @sd);
}
