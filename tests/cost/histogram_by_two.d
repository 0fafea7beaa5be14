replay:::firing { @[execname, cpu] = lquantize(arg1, 0, 1000, 100); }
