struct o { int a; int b; };
translator struct o < int N > { a = N; };
translator struct o < int M > { b = M; a = M; a = 0; };
