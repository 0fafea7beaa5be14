replay:::firing
{
	this->name = arg1 % 3 == 0 ? "report.tar.gz" : arg1 % 3 == 1 ? "main.c" : "Makefile";
	this->dot = rindex(this->name, ".");
	this->slash = strchr("a/b", '/');
	@[this->dot < 0 ? "none" : substr(this->name, this->dot + 1), this->slash] = count();
}
