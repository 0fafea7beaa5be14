#pragma D option quiet

BEGIN { printf("%-12s %-7s %-16s %6s\n", "TIME(us)", "PID", "COMM", "SIZE"); }
replay:::firing
/arg1 >= 95/
{
	printf("%-12d %-7d %-16s %6d\n", timestamp / 1000, pid, execname, arg1);
}
