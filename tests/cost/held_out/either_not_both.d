replay:::firing /(arg1 > 50) ^^ (cpu == 0)/ { @[cpu] = min(arg1); }
