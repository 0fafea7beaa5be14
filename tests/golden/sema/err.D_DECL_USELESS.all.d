int;
extern char;
unsigned;
size_t;
BEGIN { }
