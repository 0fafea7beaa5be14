replay:::firing { this->low = arg1 / 25 * 25; @[strjoin(strjoin(lltostr(this->low), ".."), lltostr(this->low + 24))] = count(); }
