/* How long from one firing to the next in the same thread, by function */
self uint64_t last;

replay:::firing /self->last/ { @["ns between firings", probefunc] = quantize(timestamp - self->last); }
replay:::firing { self->last = timestamp; }
