replay:::firing
{
	if (arg1 < 10)
		@few[execname] = count();
	else
		@many[execname] = lquantize(arg1, 10, 110, 10);
}
