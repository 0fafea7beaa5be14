BEGIN { trace(!"a"); }
