/* A hint names copyinstr() if the argument may be an address. */
BEGIN { printf("%s", arg0); }
BEGIN { printf("%s", (int)arg0); }
