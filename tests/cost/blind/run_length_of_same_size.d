self int size;

replay:::firing /arg1 == self->size/ { self->same++; }

replay:::firing
/arg1 != self->size/
{
	@runs = lquantize(self->same, 0, 16, 1);
	self->same = 1;
	self->size = arg1;
}
