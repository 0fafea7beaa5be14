#pragma D option
BEGIN { trace(1); }
