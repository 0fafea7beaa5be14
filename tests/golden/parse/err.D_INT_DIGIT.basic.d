BEGIN { x = 08; }
