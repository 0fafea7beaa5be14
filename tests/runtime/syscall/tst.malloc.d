/* Which calls of malloc() ask the kernel for memory of their own?
 * run: -q -c '{programs}/calls'
 * needs: uprobes
 */
pid$target:libc:malloc:entry
{
	self->size = arg0;
	self->reached = 0;
}

syscall::mmap:entry
/pid == $target && self->size/
{
	self->reached = arg1 >= self->size;
}

pid$target:libc:malloc:return
/self->size/
{
	printf("malloc(%d) %s mmap\n", self->size, self->reached ? "reached" : "did without");
	self->size = 0;
}
