replay:::firing
{
	self->mask |= 1 << (cpu & 31);
	self->calls++;
	@bits[tid] = max(self->mask);
}
