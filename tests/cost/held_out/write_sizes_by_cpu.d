replay:::firing { @["bytes written", cpu] = lquantize(arg1, 0, 100, 5); }
