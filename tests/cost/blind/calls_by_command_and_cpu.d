replay:::firing { @[execname, cpu] = count(); }
