BEGIN { (void)exit(0); }
BEGIN { count(); }
