pid99:::entry { trace(args[0]); }
