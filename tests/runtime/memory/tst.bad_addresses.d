/* Addresses that are not mapped, mapped in half, without a NUL to their end, and the kernel's: a fault of its clause each.
 * run: -c '{programs}/victim 1 5000'
 * needs: uprobes
 */
#pragma D option quiet
pid$target:victim:look:entry { trace(copyinstr(arg0)); printf("not reached\n"); }
pid$target:victim:look:entry { trace(copyinstr(arg1)); printf("not reached\n"); }
pid$target:victim:look:entry { printf("%s\n", copyinstr(arg1, 5)); }
pid$target:victim:look:entry { trace(copyin(arg1, 5)); printf("not reached\n"); }
pid$target:victim:look:entry { this->half = (char *)copyin(arg1, 4); printf("%c%c\n", this->half[0], this->half[3]); }
pid$target:victim:look:entry { printf("%d\n", strlen(copyinstr(arg2))); }
pid$target:victim:look:entry { trace(copyinstr(arg3)); printf("not reached\n"); }
pid$target:victim:look:entry { trace(*(int *)arg3); printf("not reached\n"); }
pid$target:victim:look:entry { trace(*(long *)(arg1)); printf("not reached\n"); }
pid$target:victim:look:entry { trace(copyinstr(0)); printf("not reached\n"); }
pid$target:victim:look:entry { exit(0); }
ERROR { printf("fault %d\n", arg4); }
