/* A unary operator makes what is not known yet an int64_t, unless it is a plain name. */
BEGIN /!self->seen || !hits[pid, execname]/ { trace(-this->n); trace(~self->mask); }
BEGIN { self->seen = 1; hits[0, ""]++; this->n = 5LL; self->mask = 1; trace($target); trace($$target); }
