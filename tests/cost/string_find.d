replay:::firing /strstr(execname, "xx") != NULL/ { @ = count(); }
