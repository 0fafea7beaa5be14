/*
 * setopt(): options that may change while tracing do so from the next record on; for others and for wrong values there is a
 * message, with what would be right.
 */
BEGIN
{
	setopt("quiet");
	setopt("aggsortrev", "yes");
	setopt("agrate", "1ms");
	setopt("switchrate", "soon");
	setopt("bufsize", "1m");
	setopt("stackindent", "2");
}

BEGIN
{
	printf("quiet now\n");
	@["small"] = sum(1);
	@["large"] = sum(9);
	printa("%s ", @);
	setopt("aggsortrev", "no");
	printa("%s ", @);
	setopt("quiet", "off");
}

BEGIN
{
	trace(7);
	exit(0);
}
