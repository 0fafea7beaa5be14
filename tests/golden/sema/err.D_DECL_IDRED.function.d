int strlen;
self int count; /* not global: no clash */
BEGIN { self->count = 1; }
