string on[int];

replay:::firing
/on[cpu] != ""/
{
	@switches[on[cpu], execname] = count();
}
replay:::firing { on[cpu] = execname; }
