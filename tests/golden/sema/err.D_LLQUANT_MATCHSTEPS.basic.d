BEGIN { @ = llquantize(1, 10, 0, 3, 10); @ = llquantize(1, 10, 0, 3, 20); }
