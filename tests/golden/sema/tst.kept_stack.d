/* ustack(n) is a value that variables keep, and a key and an argument like what ustack() records. */
BEGIN { self->at = ustack(3); at[pid] = self->at; this->at = at[pid]; at[pid] = 0; self->at = 0; }
BEGIN { @kept[self->at] = count(); @kept[ustack(5)] = count(); @kept[at[1]] = count(); }
BEGIN { trace(this->at); printf("%k %k", this->at, ustack(2)); @size = sum(sizeof (this->at)); }
