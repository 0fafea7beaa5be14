replay:::firing { @[execname < "n" ? "a-m" : "n-z"] = count(); }
