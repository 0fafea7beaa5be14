BEGIN { trace(1)
