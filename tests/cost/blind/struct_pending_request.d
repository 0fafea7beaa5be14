struct pending { uint64_t when; int size; int cpu; };
struct pending prev;

replay:::firing
/prev.when != 0 && prev.size < arg1/
{
	@wait = avg(timestamp - prev.when);
	@moved[prev.cpu, cpu] = count();
}
replay:::firing { prev.when = timestamp; prev.size = arg1; prev.cpu = cpu; }
