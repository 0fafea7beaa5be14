replay:::firing { @bytes = sum(arg1); }
