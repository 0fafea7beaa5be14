/* The moving average of a thread, and how often a value strays far from it */
self int64_t smooth;

replay:::firing { self->smooth = self->smooth == 0 ? arg1 << 4 : (self->smooth * 7 + ((int64_t)arg1 << 4)) >> 3; }
replay:::firing /((int64_t)arg1 << 4) > self->smooth * 2/ { @above[tid] = count(); }
replay:::firing /((int64_t)arg1 << 4) * 2 < self->smooth/ { @below[tid] = count(); }
