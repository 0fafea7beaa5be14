replay:::firing
{
	this->v = arg0;
	this->bit = 0;
	this->bit += this->v >> 32 ? 32 : 0;
	this->v >>= this->v >> 32 ? 32 : 0;
	this->bit += this->v >> 16 ? 16 : 0;
	this->v >>= this->v >> 16 ? 16 : 0;
	this->bit += this->v >> 8 ? 8 : 0;
	this->v >>= this->v >> 8 ? 8 : 0;
	this->bit += this->v >> 4 ? 4 : 0;
	@highest = lquantize(this->bit, 0, 64, 4);
}
