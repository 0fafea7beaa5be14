uint64_t last;

replay:::firing
/last/
{
	@mean = avg(timestamp - last);
	@worst = max(timestamp - last);
	@best = min(timestamp - last);
}
replay:::firing { last = timestamp; }
