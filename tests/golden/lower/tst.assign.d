int x; uint32_t u; char c;
BEGIN { x = 5; x++; u--; c = arg0; this->t = x; self->ts = timestamp; s = "text"; x += 2; ++self->n; }
