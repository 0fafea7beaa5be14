replay:::firing { @[strjoin(execname, strjoin("/", lltostr(cpu)))] = count(); }
