#pragma D option quiet

replay:::firing /arg1 >= 40 && arg1 < 60/ { printf("%Y %s[%d]: %d bytes\n", walltimestamp, execname, pid, arg1); }
