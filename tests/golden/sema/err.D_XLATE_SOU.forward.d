struct later;
translator struct later < int N > { a = N; };
BEGIN { trace(xlate <int> (5)); }
