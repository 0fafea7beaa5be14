replay:::firing /strlen(execname) > 5/ { @long[substr(execname, 0, 6), strlen(execname)] = count(); }
