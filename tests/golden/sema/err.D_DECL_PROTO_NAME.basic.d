int f(void nothing);
struct s { int (*call)(void nothing); };
BEGIN { }
