inline int new = 2;
#pragma D binding "2.0" new
BEGIN { trace(new); }
