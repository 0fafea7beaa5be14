self int last; int64_t whole;
BEGIN { self->start = 0; a[1] = 0; wide = timestamp; whole = walltimestamp; }
BEGIN { self->start = timestamp; a[1] = vtimestamp; self->last = walltimestamp; self->last = timestamp; wide = timestamp; }
BEGIN { self->last = timestamp / 1000; self->last = (int)timestamp; }
BEGIN { self->of[1, "x"] = 0; self->of[1, "x"] = timestamp; }
