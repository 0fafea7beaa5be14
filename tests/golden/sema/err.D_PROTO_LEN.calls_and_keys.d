BEGIN { trace(strlen()); trace(substr("a", 1, 2, 3)); a[1] = 1; trace(a[1, 2]); @a[1] = count(); @a[1, 2] = count(); }
