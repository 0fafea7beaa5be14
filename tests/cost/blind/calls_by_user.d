replay:::firing { @[uid, gid] = count(); }
