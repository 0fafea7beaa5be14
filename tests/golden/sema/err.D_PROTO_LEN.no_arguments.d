BEGIN { printa(); printf(); speculate(); commit(1, 2); setopt(); trace(); trace(1, 2); strlen(); substr("x"); strtok("a", "b", "c"); }
