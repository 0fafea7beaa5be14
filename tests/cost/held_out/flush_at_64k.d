int pending[string];

replay:::firing { pending[execname] += arg1; }
replay:::firing /pending[execname] > 65536/
{
	printf("%s flushes %d\n", execname, pending[execname]);
	pending[execname] = 0;
}
