#pragma D option quietly
BEGIN { trace(1); }
