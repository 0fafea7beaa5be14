replay:::firing { @ = avg(arg1 / 7 + arg1 % 5); }
