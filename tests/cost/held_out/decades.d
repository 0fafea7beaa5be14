replay:::firing { @["size"] = llquantize(arg1 * arg1, 10, 0, 6, 20); }
