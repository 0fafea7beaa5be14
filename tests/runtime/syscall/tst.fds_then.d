/* A file is named as it was at the firing, though the program closes it at once and opens another as the same descriptor.
 * run: -q -c '/bin/bash -c "for i in 1 2 3 4 5 6 7 8 9; do exec 77</dev/null; read -u 77 x; exec 77</proc/self/comm; read -u 77 x; exec 77<&-; done"'
 * needs: uprobes
 */
syscall::read:entry
/pid == $target && arg0 == 77/
{
	self->fd = arg0;
	@entry[fds[arg0].fi_name, fds[77].fi_oflags & O_ACCMODE] = count();
}

syscall::read:return
/self->fd/
{
	@return[fds[self->fd].fi_name, fds[self->fd].fi_offset < 0] = count();
	self->fd = 0;
}

syscall::dup2:return
/pid == $target && arg0 == 77/
{
	@constant[fds[77].fi_fs == "<none>" ? "not there" : "there", fds[78].fi_fs] = count();
}

END
{
	printa("%s %d %@d\n", @entry);
	printa("return %s %d %@d\n", @return);
	printa("dup2 %s %s %@d\n", @constant);
}
