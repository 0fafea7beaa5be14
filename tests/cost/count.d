replay:::firing { @ = count(); }
