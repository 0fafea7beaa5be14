BEGIN { trace($9); }
