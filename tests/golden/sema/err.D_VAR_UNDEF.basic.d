BEGIN { trace(self->x); trace(a[1]); this->count = 1; trace(this->coutn); }
