BEGIN { @ = llquantize(1, 10, 3, 0, 10); @b = llquantize(1, 10, 0, 30, 10); }
