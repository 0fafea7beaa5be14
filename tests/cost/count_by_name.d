replay:::firing { @[execname] = count(); }
