uint32_t a, b;

BEGIN { a = 1; }
replay:::firing { a = (a + (arg1 & 0xff)) % 65521; b = (b + a) % 65521; }
END { printf("%x\n", (b << 16) | a); }
