/* A captured string is what it was when the probe fired, long after the process is gone.
 * replay: looper.dvm
 */
#pragma D option quiet

pid$target:looper:func:entry { @[copyinstr(arg0), probefunc, execname] = count(); last = copyinstr(arg0); }
END { printf("%s %d\n", last, strlen(last)); }
