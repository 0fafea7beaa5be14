/*
 * tracemem(): a dump of so many bytes, 16 a line; with a third argument of as many as it says, if that is more than none and less
 * than all.
 */
#pragma D option quiet

BEGIN
{
	this->p = (char *)alloca(40);
	bcopy("0123456789abcdefghijklmnopqrstuvwxyz!?.", this->p, 40);
	tracemem(this->p, 40);
	tracemem(this->p + 10, 16);
	tracemem(this->p, 20, 3);
	this->n = 17;
	tracemem(this->p, 40, this->n);
	tracemem(this->p, 4, 0);
	tracemem(this->p, 4, 100);
	tracemem(this->p, 4, (char)-1);
	exit(0);
}
