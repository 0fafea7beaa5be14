BEGIN { s = "abc"; s[0] = 1; s["x"] = 2; }
