/* Prints each gap that is longer than all before it */
uint64_t worst;
self uint64_t seen;

replay:::firing
/self->seen && timestamp - self->seen > worst/
{
	worst = timestamp - self->seen;
	printf("%Y: new worst gap %d us in %s (%d)\n", walltimestamp, worst / 1000, execname, tid);
}

replay:::firing { self->seen = timestamp; }
