replay:::firing /arg1 < 30/ { start[pid, tid] = timestamp; }
replay:::firing /arg1 > 70 && start[pid, tid] != 0/
{
	@us[execname] = llquantize((timestamp - start[pid, tid]) / 1000, 10, 0, 6, 10);
	start[pid, tid] = 0;
}
