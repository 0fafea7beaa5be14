replay:::firing { @throw[rand() % 6 + 1] = count(); }
