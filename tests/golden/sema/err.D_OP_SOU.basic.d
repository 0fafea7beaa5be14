BEGIN { trace(pid.a); }
