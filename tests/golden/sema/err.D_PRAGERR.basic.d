#error not today
BEGIN { trace(1); }
