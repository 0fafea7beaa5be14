BEGIN { trace(pid(1)); }
