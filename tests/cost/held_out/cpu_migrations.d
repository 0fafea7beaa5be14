self int on;

replay:::firing /self->on && self->on != cpu + 1/ { @moves[execname, self->on - 1, cpu] = count(); }
replay:::firing { self->on = cpu + 1; @where[cpu] = count(); }
