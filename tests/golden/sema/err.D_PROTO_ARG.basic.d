BEGIN { trace(strlen(5)); }
