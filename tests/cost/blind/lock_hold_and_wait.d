/* below 20: asks for the lock; below 60: has it; else: lets it go */
self uint64_t ask, hold;

replay:::firing /arg1 < 20 && !self->ask/ { self->ask = timestamp; }
replay:::firing /arg1 >= 20 && arg1 < 60 && self->ask && !self->hold/
{
	self->hold = timestamp;
	@wait[tid] = quantize(self->hold - self->ask);
}
replay:::firing /arg1 >= 60 && self->hold/
{
	@held[tid] = quantize(timestamp - self->hold);
	self->ask = self->hold = 0;
}
