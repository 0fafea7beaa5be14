BEGIN { tracemem(0, 4, 4, 4); }
