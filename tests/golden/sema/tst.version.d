#pragma D option version=1.1
uint64_t ucaller;
BEGIN { json = 3; ucaller = json; mod[1] = 2; @print = count(); }
BEGIN /json/ { trace(ucaller + mod[1]); trace(strstr("a", "a")); }
