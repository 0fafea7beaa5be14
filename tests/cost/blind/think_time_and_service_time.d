self int busy;
self uint64_t began, ended;

replay:::firing /!self->busy && self->ended/ { @think[pid] = avg(timestamp - self->ended); }
replay:::firing /!self->busy/ { self->busy = 1; self->began = timestamp; }
replay:::firing
/self->busy && arg1 > 30/
{
	@service[pid] = avg((timestamp - self->began) / 1000);
	@events[pid, execname] = count();
	self->busy = 0;
	self->ended = timestamp;
}
