/* Of many faults the first five of each clause and kind are printed, then how many more there were; the ERROR probe fires for all.
 * run: -c '{programs}/looper 20'
 * needs: uprobes
 * mask: [0-9.]+ ns/call
 */
#pragma D option quiet
#pragma D option temporal
int zero, calls;
pid$target:looper:func:entry { calls++; trace(1 / zero); }
pid$target:looper:func:entry { trace(calls % 2 ? *(char *)0x10 : 1 % zero); }
pid$target:looper:func:entry /calls > 15/ { trace(1 / zero); }
pid$target:looper:func:entry /calls > 14/ { trace(1 / zero); }
ERROR { @faults[arg4] = count(); }
