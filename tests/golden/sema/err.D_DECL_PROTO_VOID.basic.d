int f(void, int);
BEGIN { }
