struct o { int a; };
BEGIN { trace(xlate <struct o> (5).a); }
