/* llquantize() with fewer steps than its factor. */
#pragma D option quiet
BEGIN
{
	@ = llquantize(1, 10, 0, 2, 5); @ = llquantize(2, 10, 0, 2, 5); @ = llquantize(3, 10, 0, 2, 5); @ = llquantize(9, 10, 0, 2, 5);
	@ = llquantize(10, 10, 0, 2, 5); @ = llquantize(19, 10, 0, 2, 5); @ = llquantize(20, 10, 0, 2, 5); @ = llquantize(999, 10, 0, 2, 5);
	@ = llquantize(-45, 10, 0, 2, 5);
	exit(0);
}
