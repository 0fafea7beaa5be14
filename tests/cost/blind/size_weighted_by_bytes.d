replay:::firing { @where_the_bytes_are[execname] = quantize(arg1, arg1); }
