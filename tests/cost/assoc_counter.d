replay:::firing { seen[execname, arg1]++; }
