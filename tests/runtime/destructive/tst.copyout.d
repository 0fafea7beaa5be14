/* copyout() and copyoutstr() change the process after the firing; a copyin() behind them reads what was written. What may not be
 * written is an invalid address. The process waits for its first byte to change, and then ends, so nothing follows that.
 * run: -w -c '{programs}/victim 1 5000'
 * needs: uprobes
 */
#pragma D option quiet
pid$target:victim:look:entry { copyoutstr("x", arg4, 2); printf("not reached\n"); }
pid$target:victim:look:entry { copyoutstr("x", arg0, 2); printf("not reached\n"); }
pid$target:victim:look:entry { copyoutstr("x", arg3, 2); printf("not reached\n"); }
pid$target:victim:look:entry { copyoutstr("x", 0, 0); printf("of nothing, nowhere\n"); }
pid$target:victim:step:entry
{
	printf("[%s] ", copyinstr(arg1));
	this->text = (char *)alloca(2);
	this->text[0] = 'f'; this->text[1] = 't';
	copyout(this->text, arg1 + 1, 2);
	copyoutstr("er and more", arg1 + 3, 3);
	copyoutstr("", arg1 + 5, 1);
	printf("[%s]\n", copyinstr(arg1));
	copyoutstr("a", arg1, 1);
}
pid$target:victim:report:entry { printf("%d signals, %s\n", arg0, copyinstr(arg1)); }
ERROR { printf("fault %d\n", arg4); }
