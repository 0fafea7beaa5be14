#pragma D option pspec
uint32_t a;
BEGIN { trace(1); }
