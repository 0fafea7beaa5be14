replay:::firing /pid == 1/ { @ = count(); }
