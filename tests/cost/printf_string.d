replay:::firing { printf("%s(%d) at %d\n", execname, pid, timestamp); }
