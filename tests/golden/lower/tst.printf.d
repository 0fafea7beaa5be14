BEGIN { printf("%d %s %c %5.2d\n", pid, execname, 'x', (short)arg0); exit(2); }
