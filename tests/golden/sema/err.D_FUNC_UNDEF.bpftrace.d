BEGIN { @ = hist(4); }
BEGIN { trace(str(4)); }
BEGIN { trace(comm); }
BEGIN { trace(strftime(4)); }
BEGIN { trace($x); }
