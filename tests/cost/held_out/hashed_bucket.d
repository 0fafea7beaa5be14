replay:::firing
{
	this->h = (uint32_t)2166136261;
	this->h = (this->h ^ (arg0 & 0xff)) * 16777619;
	this->h = (this->h ^ ((arg0 >> 8) & 0xff)) * 16777619;
	this->h = (this->h ^ (arg1 & 0xff)) * 16777619;
	@buckets[this->h % 16] = count();
}
