BEGIN { tracemem(0, pid); }
BEGIN { tracemem(0, 0); }
