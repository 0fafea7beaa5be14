typedef int a`b;
BEGIN { }
