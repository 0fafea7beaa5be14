BEGIN { hits[execname, 3]++; --self->down[1]; up++; this->local--; }
