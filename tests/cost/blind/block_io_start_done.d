/* as in iosnoop: start and done of a request share a key */
uint64_t start[int];

replay:::firing
/start[arg1 & 7]/
{
	@time[arg1 & 7] = quantize(timestamp - start[arg1 & 7]);
	start[arg1 & 7] = 0;
}

replay:::firing /(arg1 & 1) == 0/ { start[arg1 & 7] = timestamp; }
