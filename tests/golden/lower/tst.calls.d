BEGIN { trace(copyinstr(arg0)); trace(strlen(strjoin("a", lltostr(pid)))); trace(copyin(arg0, 16)); trace(rand()); trace(strtok(NULL, ":")); trace(uregs[3]); }
