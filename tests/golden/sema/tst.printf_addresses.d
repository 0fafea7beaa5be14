BEGIN { printf("%a %A %-20A", arg0, arg1, ucaller); }
