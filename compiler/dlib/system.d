/*
 * Variables of the kernel: `NAME is dvm_kernel_NAME, unless the traced program has a variable NAME. The names are those of illumos and
 * of Linux; the values are read when the clause runs.
 */
struct dvm_utsname {
	string sysname;
	string nodename;
	string release;
	string version;
	string machine;
};

struct dvm_uts_namespace {
	struct dvm_utsname name;
};

struct dvm_system { char unused; };

translator struct dvm_utsname < struct dvm_system S > {
	sysname = dvm_proc_text[16 << 32];
	nodename = dvm_proc_text[(16 << 32) + 1];
	release = dvm_proc_text[(16 << 32) + 2];
	version = dvm_proc_text[(16 << 32) + 3];
	machine = dvm_proc_text[(16 << 32) + 4];
};

translator struct dvm_uts_namespace < struct dvm_system S > {
	name = xlate <struct dvm_utsname> (S);
};

inline struct dvm_utsname dvm_kernel_utsname = xlate <struct dvm_utsname> (*(struct dvm_system *)NULL);
inline struct dvm_uts_namespace dvm_kernel_init_uts_ns = xlate <struct dvm_uts_namespace> (*(struct dvm_system *)NULL);
inline string dvm_kernel_architecture = dvm_proc_text[(16 << 32) + 4];
inline string dvm_kernel_platform = dvm_proc_text[(16 << 32) + 4];
inline pid_t dvm_kernel_mpid = (pid_t)dvm_proc_number[16 << 32];	/* the last process id */
inline int dvm_kernel_hp_avenrun[int n] = (int)dvm_proc_number[(16 << 32) + 1 + (n < 0 || n > 2 ? 14 : n)];	/* times 65536 */
inline unsigned long dvm_kernel_avenrun[int n] = (unsigned long)dvm_proc_number[(16 << 32) + 1 + (n < 0 || n > 2 ? 14 : n)] >> 5;
inline int dvm_kernel_ncpus_online = (int)dvm_proc_number[(16 << 32) + 4];
inline int dvm_kernel__pagesize = (int)dvm_proc_number[(16 << 32) + 5];
inline unsigned long dvm_kernel_physmem = (unsigned long)dvm_proc_number[(16 << 32) + 6];	/* pages */
inline unsigned long dvm_kernel_freemem = (unsigned long)dvm_proc_number[(16 << 32) + 7];

/* Flags of mmap() that illumos has and Linux does not: no call has them. */
inline int MAP_ALIGN = 0;
inline int MAP_TEXT = 0;
inline int MAP_INITDATA = 0;

/* Flags of mmap() that headers of Linux define only by default, which -C turns off. */
inline int MAP_ANON = 0x20;
inline int MAP_NORESERVE = 0x4000;
