BEGIN { trace(uregs[99]); }
