/*
 * rawbytes: text is shown as the bytes that it is, by trace() and as a key; printf() is not concerned.
 */
#pragma D option quiet
#pragma D option rawbytes
#pragma D option strsize=20

BEGIN
{
	trace("dtrace");
	printf("%s\n", "as ever");
	@["key"] = count();
	exit(0);
}
