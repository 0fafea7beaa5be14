BEGIN { @ = lquantize(1, -0x80000001L, 10, 1); }
