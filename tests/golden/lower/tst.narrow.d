int x; unsigned char b;
BEGIN { x = 7; trace((x + 1) / 2); trace((unsigned)(x - 8) > 5); trace(-x >> 1); b += x; trace((short)arg0); trace((x << 3) == 5); }
