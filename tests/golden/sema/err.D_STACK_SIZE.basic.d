BEGIN { stack(0); }
BEGIN { stack(pid); }
