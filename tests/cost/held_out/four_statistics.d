replay:::firing
{
	@n[tid] = count();
	@mean[tid] = avg(arg1);
	@dev[tid] = stddev(arg1);
	@dist[tid] = quantize(arg1);
}
