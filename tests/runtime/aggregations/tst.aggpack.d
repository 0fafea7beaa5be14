/*
 * aggpack: quantize() and lquantize() in a line each, all rows of an aggregation with the same buckets; other functions as ever.
 */
#pragma D option quiet
#pragma D option aggpack
#pragma D option encoding=ascii

BEGIN
{
	@q["a"] = quantize(0);
	@q["a"] = quantize(5);
	@q["b"] = quantize(1000);
	@q["b"] = quantize(900);
	@q["b"] = quantize(1);
	@below = quantize(-70000, -1);
	@below = quantize(3);
	@l["steps"] = lquantize(3, 0, 10, 1);
	@l["steps"] = lquantize(30, 0, 10, 1);
	@l["under"] = lquantize(-3, 0, 10, 1);
	@ll = llquantize(50, 10, 0, 2, 10);
	@n = count();
	exit(0);
}
