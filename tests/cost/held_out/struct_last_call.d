struct call { uint64_t when; int size; int cpu; };
struct call prev;

replay:::firing /prev.when && prev.cpu == cpu/ { @gap = quantize(timestamp - prev.when); @step = avg(arg1 - prev.size); }
replay:::firing { prev.when = timestamp; prev.size = arg1; prev.cpu = cpu; }
