replay:::firing { @a = count(); }
replay:::firing { @b = sum(arg1); }
