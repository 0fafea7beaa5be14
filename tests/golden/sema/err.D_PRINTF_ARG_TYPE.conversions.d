BEGIN { printf("%hd", 1); }
BEGIN { printf("%ld", 1); }
BEGIN { printf("%c", 1L); }
BEGIN { printf("%Y", 1); }
BEGIN { printf("%s", (char *)arg0); }
BEGIN { printf("%p", "x"); }
BEGIN { printf("%P", 80); }
BEGIN { printf("%I", 1); }
BEGIN { printf("%ws", "x"); }
BEGIN { printf("%a", "x"); }
BEGIN { printf("%k", 1); }
BEGIN { printf("%f", 1); }
BEGIN { @a[1] = count(); printa("%@s", @a); printa("%s", @a); }
