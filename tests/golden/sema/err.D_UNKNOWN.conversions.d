BEGIN { printf("%a", 1); }
BEGIN { printf("%P", 1); }
BEGIN { @ = count(); printa("%@k", @); }
