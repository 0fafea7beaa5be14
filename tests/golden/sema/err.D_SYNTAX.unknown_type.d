BEGIN { trace((foo_t)1); }
BEGIN { trace((foo_t *)arg0); }
BEGIN { trace(sizeof (foo_t **)); }
BEGIN { trace((foo_t) /* no cast */ (2)); }
translator foo_t < int x > { y = x; };
BEGIN { trace(xlate <foo_t> (1).y); }
