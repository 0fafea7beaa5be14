/* From one system call to another, the functions of the program between them. Some linkers name the stubs of the
 * procedure linkage table (munmap$plt), which are functions then: they are left out.
 * run: -q -c '{programs}/calls'
 * needs: uprobes
 */
syscall::mmap:entry
/pid == $target && arg1 == 12288/
{
	self->depth = 10;
	printf("%*s%s\n", self->depth, "-> ", probefunc);
	self->depth += 2;
}

syscall::mmap:return
/self->depth/
{
	self->depth -= 2;
	printf("%*s%s\n", self->depth, "<- ", probefunc);
}

pid$target:a.out::entry
/self->depth && strchr(probefunc, '$') == NULL/
{
	printf("%*s%s\n", self->depth, "-> ", probefunc);
	self->depth += 2;
}

pid$target:a.out::return
/self->depth > 10 && strchr(probefunc, '$') == NULL/
{
	self->depth -= 2;
	printf("%*s%s\n", self->depth, "<- ", probefunc);
}

syscall::munmap:entry
/self->depth/
{
	printf("%*s%s\n", self->depth, "-> ", probefunc);
	self->depth = 0;
}
