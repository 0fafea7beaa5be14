/* How long each call takes of the CPU and of the clock: as many times as there are calls, none of them 0.
 * run: -q -c '{programs}/calls'
 * needs: uprobes
 */
syscall:::entry
/pid == $target/
{
	self->began = timestamp;
	self->used = vtimestamp;
}

syscall::getppid:return
/self->began/
{
	@calls[probefunc] = count();
	this->elapsed = timestamp - self->began;
	@zero["took no time"] = sum(this->elapsed == 0);
	@back["its CPU time went back"] = sum(vtimestamp < self->used);
	self->began = 0;
}
