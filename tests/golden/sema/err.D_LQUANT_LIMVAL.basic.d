BEGIN { @ = lquantize(1, 0, 0x80000000, 1); }
