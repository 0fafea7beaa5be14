replay:::firing { @who[strjoin(execname, strjoin("[", strjoin(lltostr(pid), "]")))] = count(); }
