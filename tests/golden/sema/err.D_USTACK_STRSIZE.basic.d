BEGIN { ustack(1, -1); }
BEGIN { ustack(1, pid); }
