/* @program */
BEGIN
{
	trace(((struct a.out`conf *)arg0)->x);
	trace(((libz`FILE *)arg0));
	trace((userland a.out`nothing_t)arg0);
}
