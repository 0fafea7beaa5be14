struct s;
BEGIN { trace(((struct s *)8)->a); }
