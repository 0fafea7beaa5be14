/* Integer keys are compared as unsigned numbers of their size. */
#pragma D option quiet
#pragma D option aggsortkey

BEGIN
{
	@["int", -1] = sum(1);
	@["int", 0] = sum(1);
	@["int", 7] = sum(1);
	@long[-2LL] = sum(1);
	@long[1LL << 40] = sum(1);
	@long[3LL] = sum(1);
	printa("%s %d\n", @);
	printa("%d\n", @long);
	exit(0);
}
