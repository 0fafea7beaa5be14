BEGIN { self->at = ustack(); }
BEGIN { self->at = ustack(0); }
BEGIN { self->at = ustack(128); }
BEGIN { self->at = ustack(pid); }
