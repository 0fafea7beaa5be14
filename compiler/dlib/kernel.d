/*
 * The arguments of the sched and proc probes. Of another thread than the one that fires, the probe passes the kernel's task_struct, and as
 * arg3 to arg9 what is told of it here: its CPU, thread, process, the address of its name, its priority, its parent and its user.
 */
#pragma D depends_on library procfs.d
#pragma D depends_on library sched.d

struct dvm_task { char unused; };
struct dvm_cpu { char unused; };	/* the pointer is the CPU's number */

typedef struct siginfo {
	int si_signo;
	int si_errno;
	int si_code;
	int si_pad;
	union {
		void *si_addr;	/* of a fault */
		long si_band;	/* of SIGPOLL */
		struct {
			pid_t si_pid;	/* of a signal that a process sent, and of SIGCHLD */
			uid_t si_uid;
			union {
				int si_status;	/* of SIGCHLD */
				int si_fd;	/* of SIGPOLL */
				union sigval { int sival_int; void *sival_ptr; } si_value;
			};
		};
	};
} siginfo_t;

translator lwpsinfo_t < struct dvm_task *T > {
	pr_addr = (uintptr_t)arg4;
	pr_lwpid = (id_t)arg4;
	pr_wchan = 0;	/* Linux tells of no thread what it waits for */
	pr_stype = SOBJ_NONE;
	pr_pri = (int)arg7;
	pr_name = stringof((char *)arg6);
	pr_onpro = (processorid_t)arg3;
	pr_bindpset = 0;	/* Linux has one set of processors */
};

translator psinfo_t < struct dvm_task *P > {
	pr_addr = (uintptr_t)arg5;
	pr_pid = (pid_t)arg5;
	pr_ppid = (pid_t)arg8;
	pr_uid = (uid_t)arg9;
	pr_fname = stringof((char *)arg6);
	pr_psargs = stringof((char *)arg6);
	pr_wstat = 0;
	pr_dmodel = PR_MODEL_LP64;
	pr_taskid = 0;
	pr_projid = 0;
	pr_nzomb = 0;
	pr_poolid = 0;
	pr_zoneid = 0;
	pr_contract = 0;
};

translator cpuinfo_t < struct dvm_cpu *C > {
	cpu_id = (processorid_t)(uintptr_t)C;
	cpu_pset = 0;
};

provider sched {
	probe dequeue(struct dvm_task *t, struct dvm_task *p, struct dvm_cpu *c) : (lwpsinfo_t *t, psinfo_t *p, cpuinfo_t *c);
	probe sleep();
	probe preempt();
	probe enqueue(struct dvm_task *t, struct dvm_task *p, struct dvm_cpu *c) : (lwpsinfo_t *t, psinfo_t *p, cpuinfo_t *c);
	probe off__cpu(struct dvm_task *t, struct dvm_task *p) : (lwpsinfo_t *t, psinfo_t *p);
	probe on__cpu();
	probe wakeup(struct dvm_task *t, struct dvm_task *p) : (lwpsinfo_t *t, psinfo_t *p);
};

provider proc {
	probe lwp__create(struct dvm_task *t, struct dvm_task *p) : (lwpsinfo_t *t, psinfo_t *p);
	probe create(struct dvm_task *p) : (psinfo_t *p);
	probe start();
	probe lwp__start();
	probe exec(char *path);
	probe exec__failure(int error);
	probe exec__success();
	probe lwp__exit();
	probe exit(int why);
	probe signal__send(struct dvm_task *t, struct dvm_task *p, int sig) : (lwpsinfo_t *t, psinfo_t *p, int sig);
	probe signal__discard(struct dvm_task *t, struct dvm_task *p, int sig) : (lwpsinfo_t *t, psinfo_t *p, int sig);
	probe signal__clear(int sig);
	probe signal__handle(int sig, siginfo_t *info, void *handler);
};
