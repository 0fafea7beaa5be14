BEGIN { @ = llquantize(1, 10, 3, 0, 10); @b = llquantize(1, 10, 2, 2, 10); @c = llquantize(1, 10, 2, 3, 10); }
