self this int a;
extern static int b;
typedef extern int c;
self typedef int d;
BEGIN { }
