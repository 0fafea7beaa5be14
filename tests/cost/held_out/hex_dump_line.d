replay:::firing { printf("%16x: %02x %03o %c %p\n", arg0, arg1, arg1, arg1 >= 32 ? (int)arg1 : '.', arg0); }
