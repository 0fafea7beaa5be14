replay:::firing /probename == "entry" || probename == "firing"/ { @in[probename, execname] = quantize(arg1 * 512); }
replay:::firing /probename == "return"/ { @out[execname] = quantize(arg1); }
