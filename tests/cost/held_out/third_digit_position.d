replay:::firing { @[execname] = lquantize(index(execname, "3"), -1, 16, 1); @last[execname] = max(rindex(execname, "n")); }
