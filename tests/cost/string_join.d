replay:::firing { this->s = strjoin(execname, ":"); @[this->s] = count(); }
