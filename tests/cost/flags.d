replay:::firing { @[arg1 & 3 ? (arg1 & 1 ? "read" : "write") : "none", (arg1 & 0x40) != 0] = count(); }
