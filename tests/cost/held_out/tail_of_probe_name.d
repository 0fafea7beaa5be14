replay:::firing /arg1 < 50 || strchr(execname, '.') != NULL/
{
	this->tail = strrchr(probename, 'r');
	@[this->tail != NULL ? this->tail : "-", cpu] = sum(arg1);
}
