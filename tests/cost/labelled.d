replay:::firing { @[strjoin(strjoin(probename, "/"), execname)] = count(); }
