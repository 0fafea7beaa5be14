self uint64_t prev;

replay:::firing
/self->prev && timestamp > self->prev/
{
	this->ns = timestamp - self->prev;
	this->bps = (arg1 * 1000000000) / this->ns;
	@bandwidth[tid] = quantize(this->bps / 1024);
	@mean = avg(this->bps);
}
replay:::firing { self->prev = timestamp; }
