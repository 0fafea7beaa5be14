BEGIN { i = i + 1; }
BEGIN { self->j = j; }
BEGIN { k += k; }
BEGIN { m = (l = 1) + m + l; }
