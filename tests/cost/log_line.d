replay:::firing { printf("%d %s[%d/%d] %s:%s %d\n", timestamp, execname, pid, tid, probefunc, probename, arg1); }
