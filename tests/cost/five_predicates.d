replay:::firing /arg1 == 40/ { @[40] = count(); }
replay:::firing /arg1 == 41/ { @[41] = count(); }
replay:::firing /arg1 == 42/ { @[42] = count(); }
replay:::firing /arg1 == 43/ { @[43] = count(); }
replay:::firing /arg1 == 44/ { @[44] = count(); }
