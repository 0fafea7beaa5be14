replay:::firing { @low = min(arg1); @high = max(arg1); }
