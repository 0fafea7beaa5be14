BEGIN { trace(timestampp); }
