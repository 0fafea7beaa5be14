replay:::firing { @[arg1 > 10 ? "big" : "small"] = count(); }
