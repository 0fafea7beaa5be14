self uint64_t t;

replay:::firing /self->t/ { @ns[execname] = llquantize(timestamp - self->t, 10, 2, 9, 10); }
replay:::firing { self->t = timestamp; }
