/* Keeps what was said only when the argument turns out odd and above ten */
replay:::firing { self->spec = speculation(); }
replay:::firing /self->spec/ { speculate(self->spec); printf("%s:%s ", probemod, probefunc); }
replay:::firing /self->spec/ { speculate(self->spec); printf("%d %#x", arg1, arg0); }
replay:::firing /self->spec && (arg1 & 1) && arg1 > 10/ { commit(self->spec); self->spec = 0; }
replay:::firing /self->spec/ { discard(self->spec); self->spec = 0; }
