#pragma D option quiet

replay:::firing
/arg1 % 16 == 3/
{
	printf("%s:%s(0x%x, %d) on %d by %d/%d\n", probeprov, probename, arg0, arg1, cpu, pid, tid);
}
