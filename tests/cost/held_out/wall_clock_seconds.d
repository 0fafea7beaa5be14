replay:::firing
{
	this->second = walltimestamp / 1000000000;
	@[this->second / 60 % 60 % 4, this->second % 10] = count();
}
