BEGIN { a["x", 1] = 5; a["x", 1]++; self->m[tid] = a["x", 1]; trace(self->m[tid]); b[a["y", 2]] = 1; b[a["x", 1]] -= 2; }
