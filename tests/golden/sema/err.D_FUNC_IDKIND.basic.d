BEGIN { trace(pid(1)); args(1); }
