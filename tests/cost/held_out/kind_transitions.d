self string was;

replay:::firing { this->is = arg1 % 4 == 0 ? "read" : arg1 % 4 == 1 ? "write" : arg1 % 4 == 2 ? "seek" : "other"; }
replay:::firing /self->was != "" && self->was != this->is/ { @[self->was, this->is] = count(); }
replay:::firing { self->was = this->is; }
