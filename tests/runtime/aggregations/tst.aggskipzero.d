/*
 * aggskipzero: rows whose values are all zero are left out, of a table, of a format and at the end. The value of an empty bucket is zero, a bucket of
 * zeros is not.
 */
#pragma D option quiet
#pragma D option aggskipzero

BEGIN
{
	@live["kept"] = sum(10);
	@live["freed"] = sum(10);
	@live["freed"] = sum(-10);
	@blocks["kept"] = sum(1);
	@blocks["freed"] = sum(0);
	@blocks["only here"] = sum(2);
	@mean["zero"] = avg(-1);
	@mean["zero"] = avg(1);
	@mean["one"] = avg(1);
	@spread["zeros"] = quantize(0);
	@all_zero = sum(0);
	printa(@live);
	printa("%s %@d %@d\n", @live, @blocks);
	printa(@mean);
	clear(@live);
	printa("cleared %s %@d\n", @live);
	setopt("aggskipzero", "off");
	printa("all %s %@d\n", @live);
	setopt("aggskipzero");
	exit(0);
}
