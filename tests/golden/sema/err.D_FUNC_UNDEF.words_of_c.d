BEGIN { trace(strcmp("a", "b")); }
BEGIN { trace(sprintf("%d", 5)); }
BEGIN { x = true; }
BEGIN { y = null; }
