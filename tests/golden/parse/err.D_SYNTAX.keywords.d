BEGIN { while = 1; }
BEGIN { trace(goto); }
counter x;
