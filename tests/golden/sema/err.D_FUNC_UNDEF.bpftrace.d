BEGIN { @ = hist(4); }
BEGIN { trace(str(4)); }
BEGIN { trace(comm); }
