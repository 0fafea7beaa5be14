replay:::firing
/pid != $pid && execname != "dtrace" && execname != "dvm" && (probefunc > "a" || probename == "entry")/
{
	@[probeprov, probename] = count();
}
