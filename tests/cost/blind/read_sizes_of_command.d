replay:::firing /arg1 > 0/ { @bytes[execname] = quantize(arg1); }
