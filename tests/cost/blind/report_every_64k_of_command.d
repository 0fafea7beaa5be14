uint64_t bytes[string, int];

replay:::firing { bytes[execname, cpu] += arg1; }
replay:::firing
/bytes[execname, cpu] > 65536/
{
	printf("%s moved %d KB on cpu %d", execname, bytes[execname, cpu] / 1024, cpu);
	bytes[execname, cpu] = 0;
}
