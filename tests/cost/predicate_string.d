replay:::firing /execname == "bash"/ { @ = count(); }
