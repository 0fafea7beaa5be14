/*
 * aggzoom: the longest bar is 95 hundredths of the columns, whatever the others are; encoding=utf8 draws eighths of a column.
 */
#pragma D option quiet
#pragma D option aggzoom
#pragma D option encoding=utf8

BEGIN
{
	@q = quantize(1);
	@q = quantize(2);
	@q = quantize(2);
	@q = quantize(2);
	printa(@q);
	setopt("agghist");
	@c["one"] = count();
	@c["two"] = count();
	@c["two"] = count();
	exit(0);
}
