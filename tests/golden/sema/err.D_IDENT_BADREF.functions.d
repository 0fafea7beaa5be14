/* Names of functions are no variables. */
BEGIN { strlen = 1; count++; printf[1] = 2; }
