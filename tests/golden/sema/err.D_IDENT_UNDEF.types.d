BEGIN { trace(sizeof (unit32_t)); }
