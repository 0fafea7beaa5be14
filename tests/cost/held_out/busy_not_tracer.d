replay:::firing /pid != $pid && execname != "dtrace" && arg1 > 16/ { @[execname] = sum(arg1); }
