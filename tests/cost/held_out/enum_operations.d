enum operation { OP_GET = 0, OP_PUT, OP_DELETE, OP_LIST };

replay:::firing { self->op = arg1 & 3; }
replay:::firing /self->op == OP_GET || self->op == OP_LIST/ { @reads[self->op == OP_LIST ? "list" : "get"] = count(); }
replay:::firing /self->op == OP_PUT/ { @written = sum(arg1 << 9); }
replay:::firing /self->op == OP_DELETE/ { @deleted[execname] = count(); }
