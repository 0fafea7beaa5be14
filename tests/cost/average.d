replay:::firing { @size["average"] = avg(arg1); }
