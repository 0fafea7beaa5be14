replay:::firing
/arg1 != 0 && pid != 0/
{
	@bytes[pid, execname] = sum(arg1);
	@calls[pid, execname] = count();
}
