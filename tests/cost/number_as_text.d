replay:::firing { @[lltostr(arg1)] = count(); }
