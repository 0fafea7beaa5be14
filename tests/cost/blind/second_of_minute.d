replay:::firing { @rate[(walltimestamp / 1000000000) % 60] = count(); }
