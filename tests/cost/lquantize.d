replay:::firing { @ = lquantize(arg1, 0, 100, 5); }
