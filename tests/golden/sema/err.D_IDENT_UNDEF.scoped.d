/* @program */
BEGIN { trace(a.out`countr); trace(`nothing); trace(libz`counter); }
