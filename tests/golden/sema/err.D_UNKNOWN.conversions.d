BEGIN { printf("%a", arg0); }
BEGIN { printf("%A", arg0); }
