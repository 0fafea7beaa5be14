BEGIN { trace(1); } /* and so on
