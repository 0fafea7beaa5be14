/* vtimestamp lies between the thread's own readings of its CPU time, half a ms aside, and does not count time asleep: a round waits
 * 300 ms.
 * run: -c '{programs}/victim 2 300'
 * needs: uprobes
 */
#pragma D option quiet
self uint64_t last;
pid$target:victim:begin:entry { self->begin = arg0; self->at = vtimestamp; }
pid$target:victim:end:entry
{
	printf("%d %d %d ", (int64_t)(self->at - self->begin) > -500000, (int64_t)(arg0 - self->at) > -500000, vtimestamp >= self->at);
}
pid$target:victim:step:entry { printf("%d\n", self->last ? vtimestamp - self->last < 150000000 : 1); self->last = vtimestamp; }
