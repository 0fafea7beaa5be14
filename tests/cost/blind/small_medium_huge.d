replay:::firing
{
	if (arg1 < 16) {
		@small = count();
	} else if (arg1 < 64) {
		@medium[execname] = count();
	} else {
		@huge[execname, tid] = sum(arg1);
	}
}
