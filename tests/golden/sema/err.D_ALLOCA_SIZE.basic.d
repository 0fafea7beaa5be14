BEGIN { alloca(-1); alloca(1 << 30); }
