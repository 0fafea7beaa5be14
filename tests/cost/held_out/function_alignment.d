replay:::firing { @[(arg0 >> 4) & 0xf, arg0 & 0xf ? "odd" : "aligned"] = count(); }
