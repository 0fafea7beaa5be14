/*
 * The process and the thread that fired, in the structures of proc(4). A member that Linux has no counterpart for, or that dvm does
 * not capture, is declared but has no conversion: a script that names it is told so.
 */
#pragma D depends_on library sched.d

inline char SSLEEP = 1;
inline char SRUN = 2;
inline char SZOMB = 3;
inline char SSTOP = 4;
inline char SIDL = 5;
inline char SONPROC = 6;
inline char SWAIT = 7;

/* pr_flag */
inline int PR_STOPPED = 0x1;
inline int PR_ISTOP = 0x2;
inline int PR_DSTOP = 0x4;
inline int PR_STEP = 0x8;
inline int PR_ASLEEP = 0x10;
inline int PR_PCINVAL = 0x20;
inline int PR_ASLWP = 0x40;
inline int PR_AGENT = 0x80;
inline int PR_DETACH = 0x100;
inline int PR_DAEMON = 0x200;
inline int PR_IDLE = 0x400;
inline int PR_ISSYS = 0x1000;
inline int PR_VFORKP = 0x2000;
inline int PR_ORPHAN = 0x4000;
inline int PR_FORK = 0x100000;
inline int PR_RLC = 0x200000;
inline int PR_KLC = 0x400000;
inline int PR_ASYNC = 0x800000;
inline int PR_MSACCT = 0x1000000;
inline int PR_BPTADJ = 0x2000000;
inline int PR_PTRACE = 0x4000000;
inline int PR_MSFORK = 0x8000000;

inline char PR_MODEL_ILP32 = 1;
inline char PR_MODEL_LP64 = 2;

inline dev_t PRNODEV = (dev_t)-1;
inline processorid_t PBIND_NONE = -1;

/* pr_stype */
inline char SOBJ_NONE = 0;
inline char SOBJ_MUTEX = 1;
inline char SOBJ_RWLOCK = 2;
inline char SOBJ_CV = 3;
inline char SOBJ_SEMA = 4;
inline char SOBJ_USER = 5;
inline char SOBJ_USER_PI = 6;
inline char SOBJ_SHUTTLE = 7;

typedef struct timespec {
	time_t tv_sec;
	long tv_nsec;
} timestruc_t;

typedef int taskid_t;
typedef int projid_t;
typedef int poolid_t;
typedef int ctid_t;

typedef struct psinfo {
	int pr_nlwp;		/* threads */
	pid_t pr_pid;
	pid_t pr_ppid;
	pid_t pr_pgid;		/* process group */
	pid_t pr_sid;		/* session */
	uid_t pr_uid;		/* real user */
	uid_t pr_euid;		/* effective user */
	gid_t pr_gid;
	gid_t pr_egid;
	uintptr_t pr_addr;	/* only a token: the process */
	dev_t pr_ttydev;	/* controlling terminal; PRNODEV: none */
	timestruc_t pr_start;	/* from the epoch, to a hundredth of a second */
	string pr_fname;	/* name of the program */
	string pr_psargs;	/* the command line */
	int pr_wstat;		/* 0: a process that fires has not ended */
	int pr_argc;
	uintptr_t pr_argv;	/* of the arguments at the start */
	uintptr_t pr_envp;
	char pr_dmodel;		/* PR_MODEL_LP64 */
	taskid_t pr_taskid;
	projid_t pr_projid;
	int pr_nzomb;		/* threads that have ended and wait to be joined: Linux has none */
	poolid_t pr_poolid;
	zoneid_t pr_zoneid;
	ctid_t pr_contract;
} psinfo_t;

typedef struct lwpsinfo {
	int pr_flag;
	id_t pr_lwpid;		/* thread */
	uintptr_t pr_addr;	/* only a token: the thread */
	uintptr_t pr_wchan;
	char pr_stype;
	char pr_state;		/* SONPROC: a thread that fires is running; at sched:::off-cpu what it is next */
	char pr_sname;		/* the letter of that: 'O' */
	char pr_nice;
	int pr_pri;
	string pr_clname;	/* scheduling class, as ps -o cls has it */
	string pr_name;
	processorid_t pr_onpro;	/* CPU */
	processorid_t pr_bindpro;	/* the only CPU that it may run on, or PBIND_NONE */
	psetid_t pr_bindpset;
} lwpsinfo_t;

struct dvm_current { char unused; };

translator timestruc_t < struct dvm_current P > {
	tv_sec = (time_t)dvm_process[14];
	tv_nsec = (long)dvm_process[15];
};

translator psinfo_t < struct dvm_current P > {
	pr_nlwp = dvm_process[4];
	pr_pid = pid;
	pr_ppid = ppid;
	pr_pgid = dvm_process[0];
	pr_sid = dvm_process[1];
	pr_uid = uid;
	pr_euid = dvm_process[2];
	pr_gid = gid;
	pr_egid = dvm_process[3];
	pr_addr = pid;
	pr_ttydev = (dev_t)dvm_process[13];
	pr_start = xlate <timestruc_t> (P);
	pr_wstat = 0;
	pr_argc = (int)dvm_process[16];
	pr_argv = (uintptr_t)dvm_process[17];
	pr_envp = (uintptr_t)dvm_process[18];
	pr_taskid = 0;	/* Linux has one of each for all processes */
	pr_projid = 0;
	pr_nzomb = 0;
	pr_poolid = 0;
	pr_contract = 0;
	pr_fname = execname;
	pr_psargs = execargs;
	pr_dmodel = PR_MODEL_LP64;
	pr_zoneid = 0;
};

struct dvm_thread_state { char number; };

/*
 * Of the bits of a state, 4 and 8 are those of stopped threads, 0x80 is that of one that has ended. 0: not known. A thread that was
 * preempted (arg2) can continue, even if it is about to sleep.
 */
translator struct dvm_thread_state < struct dvm_current T > {
	number = probename != "off-cpu" || probeprov != "sched" || tid == 0 ? SONPROC : dvm_process[24] < 0 ? 0 :
	    dvm_process[24] == 0 || arg2 != 0 ? SRUN : dvm_process[24] & 0x80 ? SZOMB : dvm_process[24] & 0xc ? SSTOP : SSLEEP;
};

translator lwpsinfo_t < struct dvm_current T > {
	pr_flag = 0;	/* it runs */
	pr_addr = tid;
	pr_bindpro = (processorid_t)dvm_process[12];
	pr_wchan = 0;
	pr_stype = 0;
	pr_pri = dvm_process[10];
	pr_nice = dvm_process[9];
	pr_clname = dvm_process[8] == 0 ? "TS" : dvm_process[8] == 1 ? "FF" : dvm_process[8] == 2 ? "RR" : dvm_process[8] == 3 ? "B" :
	    dvm_process[8] == 5 ? "IDL" : dvm_process[8] == 6 ? "DLN" : "?";
	pr_name = execname;
	pr_bindpset = 0;
	pr_lwpid = tid;
	pr_state = xlate <struct dvm_thread_state> (T).number;
	pr_sname = "?SRZTIO"[xlate <struct dvm_thread_state> (T).number];
	pr_onpro = cpu;
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *> (*(struct dvm_current *)NULL);
inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *> (*(struct dvm_current *)NULL);
