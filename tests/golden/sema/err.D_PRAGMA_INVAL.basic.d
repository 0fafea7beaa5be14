#pragma D nosuch
BEGIN { trace(1); }
