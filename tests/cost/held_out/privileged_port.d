replay:::firing
{
	this->port = ntohs((uint16_t)(arg1 << 8 | 3));
	@[this->port < 1024 ? "privileged" : "user"] = count();
}
