#pragma D option version=1.4.1
BEGIN { trace(strstr("a", "a")); }
BEGIN { trace(inet_ntop(AF_INET, NULL)); }
BEGIN { @ = stddev(1); }
BEGIN { print(1); }
