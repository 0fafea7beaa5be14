/* A predicate that does not hold raises nothing. A number that is no signal, and dvm's own probes, are faults: nothing is sent.
 * run: -w -c '{programs}/victim 2 300'
 * needs: uprobes
 */
#pragma D option quiet
BEGIN { raise(SIGKILL); printf("not reached\n"); }
BEGIN { stop(); printf("not reached\n"); }
pid$target:victim:step:entry /arg0 == 1/ { raise(SIGUSR1); printf("raised in round %d\n", arg0); }
pid$target:victim:step:entry /arg0 == 0/ { raise(0 - 1); printf("not reached\n"); }
pid$target:victim:step:entry /arg0 == 0/ { raise(65); printf("not reached\n"); }
pid$target:victim:report:entry { printf("%d signals, %s\n", arg0, copyinstr(arg1)); }
ERROR { printf("fault %d in action %d\n", arg4, arg2); }
