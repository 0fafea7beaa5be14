BEGIN { @ = llquantize(1, 2, 0, 3, 4); @ = llquantize(1, 4, 0, 3, 4); }
