replay:::firing
{
	this->path = strjoin("/usr/lib/x86_64/", probemod);
	@[dirname(this->path), basename(this->path), index(this->path, ".so")] = count();
}
