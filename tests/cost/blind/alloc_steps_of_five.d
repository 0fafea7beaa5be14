replay:::firing { @[cpu] = lquantize(arg1, 0, 100, 5); }
