replay:::firing
{
	this->path = strjoin("/proc/", strjoin(lltostr(pid), "/status"));
	@[dirname(this->path), basename(this->path)] = max(arg1);
}
