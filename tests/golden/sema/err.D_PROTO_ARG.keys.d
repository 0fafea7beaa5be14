BEGIN { a[1] = 2; a["x"] = 3; @a[1] = count(); @a["x"] = count(); }
