/* Everything that has a value is a key. */
struct s { int a; char text[10]; };
enum colour { red, green };
struct s v;
BEGIN { @keys[v, v.text, (char)1, "text", execname, (enum colour)1, (void *)0, timestamp] = count(); }
BEGIN { @keys[v, "text", 2, v.text, "", 1, (char *)0, -1] = count(); }
