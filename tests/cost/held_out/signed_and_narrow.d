replay:::firing
{
	this->c = (char)(arg1 * 5);
	this->s = (int16_t)(arg0 >> 4);
	@byte = avg(this->c < 0 ? -this->c : this->c);
	@half = stddev(this->s);
	@rest[(int)this->c % 3] = sum((uint8_t)arg0);
}
