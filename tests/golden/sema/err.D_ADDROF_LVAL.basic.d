BEGIN { trace(&(1 + pid)); }
