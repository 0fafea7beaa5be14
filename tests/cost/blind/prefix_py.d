replay:::firing
/substr(execname, 0, 2) == "py"/
{
	@scripts[execname] = count();
	@sizes = lquantize(arg1, 0, 128, 16);
}
