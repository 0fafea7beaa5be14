BEGIN { printf("%y", 1); printf("%5"); }
