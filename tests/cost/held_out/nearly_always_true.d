replay:::firing /arg0 != 0 && pid > 1 && !(arg1 == 13) && tid >= 0/ { @[pid, probefunc] = min(arg1); @[0, probefunc] = min(arg1 + 1); }
