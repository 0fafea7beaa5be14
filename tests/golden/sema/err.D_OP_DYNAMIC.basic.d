struct o { int a; };
translator struct o < int N > { a = N; };
BEGIN { this->o = xlate <struct o *> (1); }
