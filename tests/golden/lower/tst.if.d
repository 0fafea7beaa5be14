BEGIN /pid/ { x = 1; if (x == 1) { trace(1); } else { trace(2); } trace(3); }
