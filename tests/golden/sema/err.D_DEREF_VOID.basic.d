BEGIN { trace(*(void *)8); }
