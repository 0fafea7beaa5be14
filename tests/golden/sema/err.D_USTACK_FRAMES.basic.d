BEGIN { ustack(0); }
BEGIN { @[ustack(pid)] = count(); }
