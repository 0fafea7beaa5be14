/* Requests by program, kind and lane: opened by one firing, closed by a later one */
uint64_t opened[string, int, int];

replay:::firing
{
	this->kind = arg1 & 1;
	this->lane = (arg1 >> 1) & 3;
	this->since = opened[execname, this->kind, this->lane];
}

replay:::firing /this->since/ { @held[this->kind ? "write" : "read", this->lane] = quantize(timestamp - this->since); }
replay:::firing { opened[execname, this->kind, this->lane] = this->since ? 0 : timestamp; outstanding += this->since ? -1 : 1; }
replay:::firing { @outstanding = lquantize(outstanding, 0, 16, 1); }
