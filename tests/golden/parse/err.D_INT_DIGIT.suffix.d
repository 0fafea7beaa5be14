BEGIN { x = 10LU; x = 12ab; x = 0x; x = 1lll; x = 0b1; }
