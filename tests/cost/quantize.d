replay:::firing { @[probefunc] = quantize(arg1); }
