replay:::firing /strstr(execname, "python") != NULL || execname == "perl" || execname == "ruby"/ { @[execname] = quantize(arg1); }
