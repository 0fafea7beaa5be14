1, END { trace(1); }
