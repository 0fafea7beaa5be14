replay:::firing { @[execname, tid] = count(); }
