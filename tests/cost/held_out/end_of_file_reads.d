replay:::firing /arg1 == 0/ { @eof[execname, pid] = count(); }
