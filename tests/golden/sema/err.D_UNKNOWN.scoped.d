BEGIN { trace(a.out`counter); trace(`counter); trace(((struct a.out`conf *)arg0)->x); trace((userland int)arg0); }
