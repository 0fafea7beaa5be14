/* One clause on several descriptions, with globs and empty fields. */
BEGIN, dtrace:::E?D, :::BEGIN
{
	trace(probename);
}
BEGIN { exit(0); }
