replay:::firing { @top[arg1 & 31] = count(); }
END { trunc(@top, 5); printa("%4d bytes %@d times\n", @top); }
