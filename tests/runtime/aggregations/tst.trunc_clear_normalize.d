/* trunc keeps the first or last keys, clear keeps the keys, normalize divides what is printed. */
#pragma D option quiet

BEGIN
{
	@top["a"] = sum(4); @top["b"] = sum(3); @top["c"] = sum(2); @top["d"] = sum(1);
	@low["a"] = sum(4); @low["b"] = sum(3); @low["c"] = sum(2);
	@zero["kept"] = sum(9);
	@gone["gone"] = sum(9);
	@rate["per 7"] = sum(70);
	trunc(@top, 2);
	trunc(@low, -1);
	clear(@zero);
	trunc(@gone);
	normalize(@rate, 7);
	exit(0);
}
