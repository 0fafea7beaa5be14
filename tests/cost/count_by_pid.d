replay:::firing { @[pid] = count(); }
