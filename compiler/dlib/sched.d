/* The CPU of the thread that fired. What Linux does not tell has no conversion. */
typedef int chipid_t;
typedef int lgrp_id_t;
typedef int psetid_t;

typedef struct processor_info {
	int pi_state;			/* P_ONLINE: a CPU that fires is */
	string pi_processor_type;
	string pi_fputypes;
	int pi_clock;			/* MHz */
} processor_info_t;

typedef struct cpuinfo {
	processorid_t cpu_id;
	psetid_t cpu_pset;	/* 0: all CPUs are in one set */
	chipid_t cpu_chip;	/* package */
	lgrp_id_t cpu_lgrp;	/* NUMA node */
	processor_info_t cpu_info;
} cpuinfo_t;

struct dvm_current_cpu { char unused; };

inline int P_OFFLINE = 1;
inline int P_ONLINE = 2;

translator processor_info_t < struct dvm_current_cpu C > {
	pi_state = 2;
	pi_processor_type = "x86_64";
	pi_fputypes = "i387 compatible";
	pi_clock = (int)dvm_process[11];
};

translator cpuinfo_t < struct dvm_current_cpu C > {
	cpu_info = xlate <processor_info_t> (C);
	cpu_id = cpu;
	cpu_pset = 0;
	cpu_chip = chip;
	cpu_lgrp = lgrp;
};

inline cpuinfo_t *curcpu = xlate <cpuinfo_t *> (*(struct dvm_current_cpu *)NULL);
inline psetid_t pset = 0;
