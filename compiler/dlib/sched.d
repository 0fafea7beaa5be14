/* The CPU of the thread that fired. What Linux does not tell has no conversion. */
typedef int chipid_t;
typedef int lgrp_id_t;
typedef int psetid_t;

typedef struct processor_info {
	int pi_state;
	char pi_processor_type[16];
	char pi_fputypes[32];
	int pi_clock;
} processor_info_t;

typedef struct cpuinfo {
	processorid_t cpu_id;
	psetid_t cpu_pset;	/* 0: all CPUs are in one set */
	chipid_t cpu_chip;	/* package */
	lgrp_id_t cpu_lgrp;	/* NUMA node */
	processor_info_t cpu_info;
} cpuinfo_t;

struct dvm_current_cpu { char unused; };

translator cpuinfo_t < struct dvm_current_cpu C > {
	cpu_id = cpu;
	cpu_pset = 0;
	cpu_chip = chip;
	cpu_lgrp = lgrp;
};

inline cpuinfo_t *curcpu = xlate <cpuinfo_t *> (*(struct dvm_current_cpu *)NULL);
inline psetid_t pset = 0;
