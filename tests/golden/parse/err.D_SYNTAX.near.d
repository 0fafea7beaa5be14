/* A known name and any other token is cited alone, a new name with the rest of its line. */
BEGIN { x = 1; y 2; x x; x = 3 fresh - 1; z[ ]; }
