replay:::firing { self->depth++; @deepest = max(self->depth); }
replay:::firing /self->depth > 0/ { self->depth--; }
