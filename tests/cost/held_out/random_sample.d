replay:::firing
/(rand() & 0x3f) == 0/
{
	printf("%s %d %x\n", execname, arg1, arg0);
}
