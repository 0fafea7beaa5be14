BEGIN
/x/
{
	trace("a");
}
#pragma D option quiet
