BEGIN { if (x) { a = 1; } else if (y) b = 2; else { } c = 3; if (z) ; }
