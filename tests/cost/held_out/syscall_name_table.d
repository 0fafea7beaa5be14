BEGIN { name[0] = "read"; name[1] = "write"; name[2] = "open"; name[3] = "close"; }
replay:::firing { @[name[arg1 & 3]] = count(); }
