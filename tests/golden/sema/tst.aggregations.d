BEGIN {
	@ = count(); @s = sum(-1); @u = max(timestamp); @q[execname, pid] = quantize(arg0, 2);
	@l = lquantize(1, 0, 100, 10); @l2 = lquantize(1, -5, 5); @ll = llquantize(1, 10, 0, 3, 10); @d = stddev(3); @a = avg((char)1);
	printa(@); printa("%s %d %@d\n", @q); clear(@s); trunc(@q, 5); normalize(@u, 1000); denormalize(@u);
}
