/* ERROR knows who fired, though the clause that faulted asked for nothing of it.
 * run: -c '{programs}/looper 1'
 * needs: uprobes
 * mask: [0-9.]+ ns/call
 */
#pragma D option quiet

pid$target:looper:func:entry { @[copyinstr(8)] = count(); }
ERROR { printf("%s %d %d\n", execname, pid == $target, timestamp != 0); }
