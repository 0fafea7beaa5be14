BEGIN { y = sizeof (int) x; }
BEGIN { y = sizeof (int) + 1; y = sizeof ((int)x); }
