replay:::firing /tolower(execname) == "postgres" || toupper(execname) != "BASH"/ { @ = count(); }
