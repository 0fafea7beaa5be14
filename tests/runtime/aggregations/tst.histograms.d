/* Distributions: powers of two with negative values, equal steps with both ends. */
#pragma D option quiet

BEGIN
{
	@q["mixed"] = quantize(-3); @q["mixed"] = quantize(0); @q["mixed"] = quantize(12); @q["mixed"] = quantize(13);
	@l["steps"] = lquantize(-1, 0, 30, 10); @l["steps"] = lquantize(29, 0, 30, 10); @l["steps"] = lquantize(30, 0, 30, 10);
	exit(0);
}
