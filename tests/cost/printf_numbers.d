replay:::firing { printf("%d %d\n", arg0, arg1); }
