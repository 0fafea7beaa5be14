/* The process, its parent, its files and the system, as scripts for illumos name them. A thread that does not fire is a
 * fault, as is an address that is no id.
 * run: -q -c '/usr/bin/tail -f /dev/null'
 * needs: uprobes
 */
BEGIN
{
	printf("%d %d\n", `utsname.sysname == "Linux", `init_uts_ns.name.release == `utsname.release);
	printf("%d %d\n", `_pagesize, `ncpus_online > 0 && `freemem > 0 && `freemem < `physmem);
	printf("%d %d\n", `mpid > 1, `hp_avenrun[0] >> 5 <= `avenrun[0] + 2048);
}

BEGIN
{
	trace(((struct dvm_thread *)16)->t_pri);
}

BEGIN
{
	trace(((struct dvm_proc *)0x1000000000000001)->p_user.u_comm);
}

BEGIN
{
	trace(((struct dvm_proc *)0x100000000)->p_ppid);
}

BEGIN
{
	trace(xlate <psinfo_t *> ((struct dvm_proc *)16)->pr_uid);
}

syscall::read:entry
/pid == $target/
{
	this->file = curthread->t_procp->p_user.u_finfo.fi_list[arg0].uf_file;
	this->path = this->file != 0 ? this->file->f_vnode->v_path : 0;
	this->entry = (uf_entry_t *)((uint64_t)curthread->t_procp->p_user.u_finfo.fi_list + (uint64_t)arg0 * sizeof (uf_entry_t));
}

syscall::read:entry
/pid == $target && stringof(this->path) == "/dev/null"/
{
	printf("%s %s\n", stringof(this->path), stringof(this->entry->uf_file->f_vnode->v_path));
	printf("%s %s\n", curthread->t_procp->p_user.u_comm, curthread->t_procp->p_user.u_psargs);
	this->parent = curthread->t_procp->p_parent;
	printf("%d %d %d\n", this->parent->p_pid == ppid, this->parent->p_pidp->pid_id == $pid, curthread->t_procp->p_ppid == ppid);
	printf("%s %s\n", this->parent->p_user.u_comm, curthread->t_procp->p_parent->p_user.u_comm);
	printf("%d\n", this->parent->p_ppid > 0);
	printf("%d\n", stringof(curthread->t_procp->p_user.u_cdir->v_path) == cwd);
	printf("%d %d\n", curthread->t_pri == curlwpsinfo->pr_pri, curthread->t_procp->p_lwpcnt);
	this->age = (int64_t)(timestamp - this->parent->p_mstart);
	printf("%d %d\n", this->age > -20000000 && this->age < 600000000000,
	    curthread->t_procp->p_brksize > 0 && this->parent->p_stksize > 0);
	printf("%d %d\n", curthread->t_cpu->cpu_id == cpu, curthread->t_cpu->cpu_disp->disp_nrunnable >= 0);
	printf("%s|%s|%s %d\n", xlate <psinfo_t *> (curthread->t_procp)->pr_fname, xlate <psinfo_t *> (curthread->t_procp)->pr_psargs,
	    xlate <psinfo_t *> (this->parent)->pr_fname, xlate <psinfo_t *> (this->parent)->pr_pid == ppid);
	this->info = xlate <psinfo_t> (curthread->t_procp);
	printf("%d %d %d\n", this->info.pr_uid == uid, this->info.pr_sid == curpsinfo->pr_sid,
	    this->info.pr_egid == curpsinfo->pr_egid);
	this->thread = xlate <lwpsinfo_t> (curthread);
	printf("%d %d %c%s\n", this->thread.pr_lwpid == tid, this->thread.pr_onpro == cpu, this->thread.pr_sname,
	    this->thread.pr_clname);
	exit(0);
}
