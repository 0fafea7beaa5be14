/* Who fired: the process, not the tracer.
 * run: -c '{programs}/looper 1'
 * needs: uprobes
 * mask: [0-9.]+ ns/call
 */
#pragma D option quiet

pid$target:a.out:main:entry { printf("%s %d %d %d\n", execname, pid == $target, tid == pid, ppid == $pid); printf("%d %d\n", uid == $uid, gid == $gid); }
