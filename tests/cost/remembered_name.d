replay:::firing { self->name = execname; }
replay:::firing /self->name == execname/ { @[self->name] = count(); }
