replay:::firing /arg1 > 0 && arg1 < 4096/ { @mean = avg(arg1); @deviation = stddev(arg1); @most = max(arg1); }
