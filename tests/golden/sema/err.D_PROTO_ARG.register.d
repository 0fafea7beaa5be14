BEGIN { i = 3; trace(uregs[i]); }
BEGIN { trace(uregs[36]); trace(uregs[2 + 1]); }
BEGIN { trace(uregs["a"]); }
