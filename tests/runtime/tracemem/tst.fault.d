/*
 * tracemem() of memory that is not there is a fault of the clause.
 */
#pragma D option quiet

BEGIN
{
	tracemem(0x10, 8);
	printf("not reached\n");
}

BEGIN
{
	exit(0);
}
