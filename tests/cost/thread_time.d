replay:::firing { self->ts = timestamp; }
replay:::firing /self->ts/ { @ = avg(timestamp - self->ts); self->ts = 0; }
