BEGIN {
/* @repeat 8193 printf("%d %d", 1, 2); */
}
END {
/* @repeat 16384 trace(1); */
}
