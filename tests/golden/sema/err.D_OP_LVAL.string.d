BEGIN { execname[0] = 1; }
