self uint64_t off;

replay:::firing
/self->off/
{
	this->delta = timestamp - self->off;
	@off[execname, tid] = sum(this->delta);
	self->off = 0;
}

replay:::firing /arg1 < 50/ { self->off = timestamp; }
