int before[string, int];

replay:::firing
{
	this->step = (int)arg1 - before[execname, tid];
	@["up", execname] = sum(this->step > 0 ? this->step : 0);
	@["down", execname] = sum(this->step < 0 ? -this->step : 0);
	before[execname, tid] = arg1;
}
