replay:::firing /pid == 1000/ { @ = count(); }
