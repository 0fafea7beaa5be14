struct o { int a; int b; };
translator struct o < int N > { a = N; };
BEGIN { trace(xlate <struct o *> (1)->b); }
BEGIN { trace(xlate <struct o *> (1)->aa); }
BEGIN { x = xlate <struct o *> (1)->b + xlate <struct o *> (1)->b + xlate <struct o *> (1)->c; }
