/* More values than registers: some are kept in variables. */
BEGIN { x = rand() + (rand() + (rand() + (rand() + (rand() + (rand() + (rand() + (rand() + rand()))))))); }
/* A value that both arms of ?: make is kept by both. */
BEGIN { y = x + (rand() + (rand() + (rand() + (rand() + (rand() + (rand() + ((x ? rand() : pid) + (rand() + (rand() + rand()))))))))); }
/* Keys and arguments within arguments. */
BEGIN { a[1, 2] = 1; s = strjoin("a", strjoin(substr("bc", a[a[1, 2], 2]), strjoin("d", lltostr(a[1, strlen("ef")])))); }
