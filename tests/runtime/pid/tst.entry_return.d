/* Arguments on entry, the value on return, in order.
 * run: -c '{programs}/looper 2'
 * needs: uprobes
 * mask: [0-9.]+ ns/call
 */
#pragma D option quiet

pid$target:looper:func:entry { printf("-> %s %d\n", copyinstr(arg0), arg0 != 0); }
pid$target:looper:func:return { printf("<- %d\n", arg1); }
pid$target:looper:main:entry { printf("main %d %s\n", arg0, probemod); }
