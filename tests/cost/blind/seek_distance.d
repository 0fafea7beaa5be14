self uint64_t where;

replay:::firing
/self->where/
{
	this->dist = (int64_t)arg0 - (int64_t)self->where;
	@distance[execname] = quantize(this->dist > 0 ? this->dist : -this->dist);
}
replay:::firing { self->where = arg0; }
