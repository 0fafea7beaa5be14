BEGIN { self->at = ustack(3); at[pid] = self->at; }
BEGIN { @[at[pid], ustack(2)] = count(); trace(self->at); self->at = 0; }
