/*
 * agghist: count() and sum() as bars of what they are of the whole, under one header an aggregation; other functions as ever.
 */
#pragma D option quiet
#pragma D option agghist

BEGIN
{
	@fruit["apple"] = sum(10);
	@fruit["pear"] = sum(25);
	@fruit["plum"] = sum(5);
	@keys[1, "x"] = count();
	@alone = count();
	@signs["down"] = sum(-4);
	@signs["up"] = sum(8);
	@largest["m"] = max(3);
	normalize(@fruit, 5);
	printa(@fruit);
	printa("%s %@d\n", @fruit);
	exit(0);
}
