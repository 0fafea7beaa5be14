uint64_t total, n, peak;

replay:::firing { total += arg1; n++; peak = arg1 > peak ? arg1 : peak; }
END { printf("%d calls, %d bytes, mean %d, peak %d\n", n, total, n > 0 ? total / n : 0, peak); }
