replay:::firing /!(arg1 & 1)/ { self->start = timestamp; }
replay:::firing /(arg1 & 1) && self->start/
{
	@["ns"] = quantize(timestamp - self->start);
	self->start = 0;
}
