BEGIN { i = 1; printf("%s %d", i == 1 ? "one" : "other", i ? (long)i : 2); x = (i = 4, i + 1); }
