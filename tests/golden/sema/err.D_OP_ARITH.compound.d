int *p; string s;
BEGIN { p *= 2; s /= 2; -p; p * 2; }
