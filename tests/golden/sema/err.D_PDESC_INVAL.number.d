1 { trace(1); }
77 { trace(1); }
