replay:::firing
{
	this->hex = lltostr((arg1 * 37) & 0xfff, 16);
	this->low = strtoll(substr(this->hex, strlen(this->hex) - 1), 16);
	@digit[this->low] = count();
}
