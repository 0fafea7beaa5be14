replay:::firing { @[substr(execname, 0, 4)] = count(); }
