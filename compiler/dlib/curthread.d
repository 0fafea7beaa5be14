/*
 * curthread and variables of the kernel, as scripts for illumos name them. The pointers are tokens: the id of a thread or process, the
 * number of a CPU, or a descriptor. For each there is a translator from the pointer, which evaluates ->. What Linux has no counterpart
 * for, or does not tell, is not a member. A member of a thread, process or CPU that is not the one of the firing is read from /proc when
 * the clause runs; element 15 of dvm_proc_number[], which no process has, is the fault for those that /proc does not show, and for
 * addresses that no id can be: 16 times these would be the elements of another process.
 */
#pragma D depends_on library procfs.d

struct dvm_vnode {		/* the pointer is the descriptor + 1 */
	char *v_path;
};

struct dvm_open_file {		/* likewise */
	struct dvm_vnode *f_vnode;
	offset_t f_offset;
	int f_flag;
};

typedef struct dvm_uf_entry {	/* 8 times the descriptor: an array of all files begins at 0 */
	struct dvm_open_file *uf_file;
} uf_entry_t;

struct dvm_directory {		/* the process */
	char *v_path;
};

struct dvm_finfo {
	uf_entry_t *fi_list;
};

struct dvm_user {
	string u_comm;
	string u_psargs;
	struct dvm_directory *u_cdir;
	struct dvm_finfo u_finfo;
};

struct dvm_pid {		/* the process */
	pid_t pid_id;
};

struct dvm_proc {		/* the process */
	pid_t p_pid;
	pid_t p_ppid;
	struct dvm_proc *p_parent;
	struct dvm_pid *p_pidp;
	struct dvm_user p_user;
	int p_lwpcnt;
	hrtime_t p_mstart;
	clock_t p_utime;	/* ticks, of which sysconf(_SC_CLK_TCK) are a second */
	clock_t p_stime;
	size_t p_brksize;
	size_t p_stksize;
};

struct dvm_dispatcher {		/* the CPU + 1 */
	int disp_nrunnable;	/* threads that wait for the CPU */
};

struct dvm_processor {		/* the CPU + 1 */
	processorid_t cpu_id;
	struct dvm_dispatcher *cpu_disp;
};

struct dvm_thread {		/* the thread */
	id_t t_tid;
	uint64_t t_did;		/* illumos' own number of a thread; here, t_tid */
	int t_pri;		/* as curlwpsinfo->pr_pri; the idle thread has -1 */
	struct dvm_proc *t_procp;
	struct dvm_processor *t_cpu;
};

translator struct dvm_vnode < struct dvm_vnode *V > {
	v_path = (char *)dvm_file_text[8 * (uintptr_t)(int)((uintptr_t)V - 1)];
};

translator struct dvm_open_file < struct dvm_open_file *F > {
	f_vnode = (struct dvm_vnode *)(uintptr_t)F;
	f_offset = dvm_file_number[8 * (uintptr_t)(int)((uintptr_t)F - 1)];
	f_flag = (int)dvm_file_number[8 * (uintptr_t)(int)((uintptr_t)F - 1) + 1];
};

translator uf_entry_t < uf_entry_t *E > {
	uf_file = (struct dvm_open_file *)((uintptr_t)E / 8 + 1);
};

translator struct dvm_directory < struct dvm_directory *D > {
	v_path = (char *)((uintptr_t)D == pid ? cwd : dvm_proc_text[16 * (uintptr_t)D + 15]);
};

translator struct dvm_finfo < struct dvm_proc *P > {		/* & 0: always 0, so the descriptor is foreseen at the firing */
	fi_list = (uf_entry_t *)(uintptr_t)((uintptr_t)P == pid ? 0 : dvm_proc_number[16 * (uintptr_t)P + 15] & 0);
};

translator struct dvm_user < struct dvm_proc *P > {
	u_comm = (uintptr_t)P == pid ? execname : dvm_proc_text[
	    (uintptr_t)P == ppid && dvm_process[22] != -1 && dvm_process[23] != -1 ? 0x1000000005 :
	    (uintptr_t)P >> 32 ? 15 : 16 * (uintptr_t)P];
	u_psargs = (uintptr_t)P == pid ? execargs : dvm_proc_text[(uintptr_t)P >> 32 ? 15 : 16 * (uintptr_t)P + 1];
	u_cdir = (struct dvm_directory *)(uintptr_t)P;
	u_finfo = xlate <struct dvm_finfo> (P);
};

translator struct dvm_pid < struct dvm_pid *P > {
	pid_id = (pid_t)(uintptr_t)P;
};

translator struct dvm_proc < struct dvm_proc *P > {
	p_pid = (pid_t)(uintptr_t)P;
	p_ppid = (pid_t)((uintptr_t)P == pid ? ppid : dvm_proc_number[(uintptr_t)P >> 32 ? 15 : 16 * (uintptr_t)P]);
	p_parent = (struct dvm_proc *)(uintptr_t)((uintptr_t)P == pid ? ppid :
	    dvm_proc_number[(uintptr_t)P >> 32 ? 15 : 16 * (uintptr_t)P]);
	p_pidp = (struct dvm_pid *)(uintptr_t)P;
	p_user = xlate <struct dvm_user> (P);
	p_lwpcnt = (int)((uintptr_t)P == pid ? dvm_process[4] : dvm_proc_number[16 * (uintptr_t)P + 15]);
	p_mstart = (uintptr_t)P == pid && dvm_process[21] >= 0 ? dvm_process[21] :
	    dvm_proc_number[(uintptr_t)P >> 32 ? 15 : 16 * (uintptr_t)P + 3];
	p_utime = dvm_proc_number[(uintptr_t)P >> 32 ? 15 : 16 * (uintptr_t)P + 1];
	p_stime = dvm_proc_number[(uintptr_t)P >> 32 ? 15 : 16 * (uintptr_t)P + 2];
	p_brksize = dvm_proc_number[(uintptr_t)P >> 32 ? 15 : 16 * (uintptr_t)P + 4];
	p_stksize = (uintptr_t)P == pid && dvm_process[20] >= 0 ? dvm_process[20] * 4096 :
	    dvm_proc_number[(uintptr_t)P >> 32 ? 15 : 16 * (uintptr_t)P + 5];
};

translator struct dvm_dispatcher < struct dvm_dispatcher *D > {
	disp_nrunnable = (int)((uintptr_t)D != cpu + 1 || dvm_process[19] < 0 ? dvm_proc_number[15] :
	    tid != 0 && dvm_process[19] > 0 ? dvm_process[19] - 1 : dvm_process[19]);
};

translator struct dvm_processor < struct dvm_processor *C > {
	cpu_id = (processorid_t)((uintptr_t)C - 1);
	cpu_disp = (struct dvm_dispatcher *)(uintptr_t)C;
};

translator struct dvm_thread < struct dvm_thread *T > {
	t_tid = (id_t)(uintptr_t)T;
	t_did = (uintptr_t)T;
	t_pri = (int)((uintptr_t)T != tid ? dvm_proc_number[16 * (uintptr_t)T + 15] : tid == 0 ? -1 : dvm_process[10]);
	t_procp = (struct dvm_proc *)(uintptr_t)((uintptr_t)T == tid ? pid : dvm_proc_number[16 * (uintptr_t)T + 15]);
	t_cpu = (struct dvm_processor *)(uintptr_t)((uintptr_t)T == tid ? cpu + 1 : dvm_proc_number[16 * (uintptr_t)T + 15]);
};

/* As in procfs.d, from the pointers. What curpsinfo and curlwpsinfo have of the firing is a fault for others. */
translator timestruc_t < struct dvm_proc *P > {
	tv_sec = (uintptr_t)P == pid ? curpsinfo->pr_start.tv_sec : dvm_proc_number[15];
	tv_nsec = (uintptr_t)P == pid ? curpsinfo->pr_start.tv_nsec : dvm_proc_number[15];
};

translator psinfo_t < struct dvm_proc *P > {
	pr_nlwp = P->p_lwpcnt;
	pr_pid = P->p_pid;
	pr_ppid = P->p_ppid;
	pr_pgid = (pid_t)((uintptr_t)P == pid ? curpsinfo->pr_pgid : dvm_proc_number[15]);
	pr_sid = (pid_t)((uintptr_t)P == pid ? curpsinfo->pr_sid : dvm_proc_number[15]);
	pr_uid = (uid_t)((uintptr_t)P == pid ? curpsinfo->pr_uid : dvm_proc_number[15]);
	pr_euid = (uid_t)((uintptr_t)P == pid ? curpsinfo->pr_euid : dvm_proc_number[15]);
	pr_gid = (gid_t)((uintptr_t)P == pid ? curpsinfo->pr_gid : dvm_proc_number[15]);
	pr_egid = (gid_t)((uintptr_t)P == pid ? curpsinfo->pr_egid : dvm_proc_number[15]);
	pr_addr = (uintptr_t)P;
	pr_ttydev = (dev_t)((uintptr_t)P == pid ? curpsinfo->pr_ttydev : dvm_proc_number[15]);
	pr_start = xlate <timestruc_t> (P);
	pr_wstat = 0;
	pr_argc = (int)((uintptr_t)P == pid ? curpsinfo->pr_argc : dvm_proc_number[15]);
	pr_argv = (uintptr_t)P == pid ? curpsinfo->pr_argv : dvm_proc_number[15];
	pr_envp = (uintptr_t)P == pid ? curpsinfo->pr_envp : dvm_proc_number[15];
	pr_taskid = 0;
	pr_projid = 0;
	pr_nzomb = 0;
	pr_poolid = 0;
	pr_contract = 0;
	pr_fname = P->p_user.u_comm;
	pr_psargs = P->p_user.u_psargs;
	pr_dmodel = (char)((uintptr_t)P == pid ? PR_MODEL_LP64 : dvm_proc_number[15]);
	pr_zoneid = 0;
};

translator lwpsinfo_t < struct dvm_thread *T > {
	pr_flag = (int)((uintptr_t)T == tid ? curlwpsinfo->pr_flag : dvm_proc_number[15]);
	pr_lwpid = T->t_tid;
	pr_addr = (uintptr_t)T;
	pr_wchan = 0;
	pr_stype = 0;
	pr_state = (char)((uintptr_t)T == tid ? curlwpsinfo->pr_state : dvm_proc_number[15]);
	pr_sname = (char)((uintptr_t)T == tid ? curlwpsinfo->pr_sname : dvm_proc_number[15]);
	pr_nice = (char)((uintptr_t)T == tid ? curlwpsinfo->pr_nice : dvm_proc_number[15]);
	pr_pri = T->t_pri;
	pr_clname = (uintptr_t)T == tid ? curlwpsinfo->pr_clname : dvm_proc_text[15];
	pr_name = (uintptr_t)T == tid ? curlwpsinfo->pr_name : dvm_proc_text[15];
	pr_onpro = (processorid_t)((uintptr_t)T == tid ? curlwpsinfo->pr_onpro : dvm_proc_number[15]);
	pr_bindpro = (processorid_t)((uintptr_t)T == tid ? curlwpsinfo->pr_bindpro : dvm_proc_number[15]);
	pr_bindpset = 0;
};

inline struct dvm_thread *curthread = (struct dvm_thread *)(uintptr_t)tid;
