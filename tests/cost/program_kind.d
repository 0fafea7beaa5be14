replay:::firing /index(execname, "sh") == -1 && strlen(execname) > 4/ { @[basename(execname), pid] = sum(arg1); }
