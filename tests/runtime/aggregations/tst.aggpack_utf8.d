/*
 * encoding=utf8: packed distributions in blocks of eight heights.
 */
#pragma D option quiet
#pragma D option aggpack
#pragma D option encoding=utf8

BEGIN
{
	@q = quantize(1, 1);
	@q = quantize(2, 2);
	@q = quantize(4, 4);
	@q = quantize(8, 9);
	exit(0);
}
