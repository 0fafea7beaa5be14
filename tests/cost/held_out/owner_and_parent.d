replay:::firing { @[uid, ppid, execname] = avg(arg1); }
