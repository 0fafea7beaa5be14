uint64_t next[int];

replay:::firing
{
	@pattern[next[cpu] == arg1 ? "sequential" : "random", cpu] = count();
	next[cpu] = arg1 + 1;
}
