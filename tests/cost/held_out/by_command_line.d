replay:::firing { @[curpsinfo->pr_psargs, curpsinfo->pr_ppid] = count(); }
