/*
 * ASSERTION: a clause with nothing but speculate() speculates the default action; commit(), discard() and a clause whose
 * speculation() failed say nothing.
 * SECTION: Speculative Tracing/Using a Speculation
 */
BEGIN { self->s = speculation(); }
BEGIN { speculate(self->s); }
BEGIN { self->none = speculation(); }
BEGIN { speculate(self->none); trace("lost"); }
BEGIN { commit(self->s); }
BEGIN { discard(self->none); exit(0); }
