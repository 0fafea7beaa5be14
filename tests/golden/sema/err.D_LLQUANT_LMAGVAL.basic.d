BEGIN { @ = llquantize(1, 10, -1, 3, 10); }
