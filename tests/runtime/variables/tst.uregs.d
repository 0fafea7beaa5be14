/* Registers at entry and return, by DTrace's names; those that a probe does not see are faults.
 * run: -c '{programs}/victim 1'
 * needs: uprobes
 * backend: uprobe
 */
#pragma D option quiet
pid$target:victim:step:entry
{
	printf("%d %d %d %d\n", uregs[R_RDI] == arg0, uregs[R_RSI] == arg1, uregs[R_PC] == uregs[R_RIP], uregs[R_SP] == uregs[R_RSP]);
	self->sp = uregs[R_RSP];
}
pid$target:victim:step:return { printf("%d bytes above\n", uregs[R_RSP] - self->sp); }
pid$target:victim:step:entry { trace(uregs[R_GS]); printf("not reached\n"); }
BEGIN { trace(uregs[R_RIP]); printf("not reached\n"); }
ERROR { printf("fault %d\n", arg4); }
