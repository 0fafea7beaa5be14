BEGIN { trace(a); trace(b); x = c + d; }
END /e/ { printf("%d", f); }
