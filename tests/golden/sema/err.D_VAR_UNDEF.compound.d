BEGIN { a["k"] += 2; }
