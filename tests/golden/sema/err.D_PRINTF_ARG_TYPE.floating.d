/* D has no floating point; a conversion is looked up before its argument. */
BEGIN { printf("%5.2f", 1); }
BEGIN { printf("%d %q", 1); }
