BEGIN { trace($6); }
