/* Announces a pair of program and class once */
int known[string, int];

replay:::firing
/!known[execname, arg1 & 0xf]/
{
	known[execname, arg1 & 0xf] = ++pairs;
	printf("pair %d: %s of class %d\n", pairs, execname, arg1 & 0xf);
}

END { printf("%d pairs\n", pairs); }
