replay:::firing { self->ts = timestamp; self->write = arg1 % 4; }
replay:::firing /self->ts/
{
	@elapsed[execname, self->write ? "write" : "read"] = sum(timestamp - self->ts);
	self->ts = 0;
	self->write = 0;
}
