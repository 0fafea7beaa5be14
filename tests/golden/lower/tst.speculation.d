/* speculation() is a call; speculate(), commit() and discard() take its value. */
BEGIN { self->s = speculation(); }
BEGIN { speculate(self->s); printf("%d", 1); }
BEGIN { commit(self->s); }
BEGIN { discard(self->s); self->s = 0; }
