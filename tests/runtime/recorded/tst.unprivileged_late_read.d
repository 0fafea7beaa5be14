/* What was not recorded is a bad address, not a guess.
 * replay: looper.dvm
 */
#pragma D option quiet

pid$target:looper:func:entry /n++ == 0/ { trace(copyinstr(arg0 + 4096)); }
END { printf("%d\n", n); }
