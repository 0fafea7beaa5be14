replay:::firing /arg1 == 8/ { self->follow = 1; }
replay:::firing /self->follow/ { @seen[arg1 >> 3] = count(); }
replay:::firing /arg1 == 64/ { self->follow = 0; }
