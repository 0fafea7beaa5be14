BEGIN { tracemem("x", 1); }
