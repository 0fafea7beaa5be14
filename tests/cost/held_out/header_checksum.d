/* The sum of a header as the internet has it: words of 16 bits, the carries folded in */
replay:::firing
{
	this->sum = (uint32_t)0x4500 + htons((uint16_t)(arg1 + 20)) + (pid & 0xffff);
	this->sum += (ntohl((uint32_t)arg0) >> 16) + (ntohl((uint32_t)arg0) & 0xffff);
	this->sum = (this->sum & 0xffff) + (this->sum >> 16);
	this->sum = (this->sum & 0xffff) + (this->sum >> 16);
	@sums = quantize(~this->sum & 0xffff);
}
