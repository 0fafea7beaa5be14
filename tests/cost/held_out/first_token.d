replay:::firing
{
	this->line = strjoin(probefunc, "_in_module");
	this->first = strtok(this->line, "_");
	this->second = strtok(NULL, "_");
	@[this->first, this->second] = max(arg1);
}
