replay:::firing { @[execname, pid, tid, arg1 & 3] = sum(arg1); }
