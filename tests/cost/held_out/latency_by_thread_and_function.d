uint64_t start[int, string];

replay:::firing
/start[tid, probefunc] == 0/
{
	start[tid, probefunc] = timestamp;
	self->entered = 1;
}

replay:::firing
/!self->entered && start[tid, probefunc] != 0/
{
	this->us = (timestamp - start[tid, probefunc]) / 1000;
	@time[probefunc] = lquantize(this->us, 0, 1000, 50);
	start[tid, probefunc] = 0;
}

replay:::firing { self->entered = 0; }
