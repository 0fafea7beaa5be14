BEGIN { trace(a.out`counter); trace(`counter); trace(&`counter); }
