BEGIN { trace(((struct a.out`conf *)arg0)->x); trace((a.out`conf_t)arg0); }
