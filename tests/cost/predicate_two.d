replay:::firing /arg0 == 1 && arg1 > 40/ { @ = sum(arg1 - 40); }
