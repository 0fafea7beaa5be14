long n;
replay:::firing { n++; }
replay:::firing /n % 100 == 0/ { printf("%d firings, the last one of %s\n", n, execname); }
