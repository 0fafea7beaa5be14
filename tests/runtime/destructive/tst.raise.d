/* raise() sends the signal to the process that fired; the program counts them and says so at its end: they arrive before it goes on waiting for long.
 * run: -w -c '{programs}/victim 3 5000'
 * needs: uprobes
 */
#pragma D option quiet
pid$target:victim:step:entry { raise(SIGUSR1); printf("raised in round %d\n", arg0); }
pid$target:victim:report:entry { printf("%d signals, %s\n", arg0, copyinstr(arg1)); }
