/* The CPU of the thread that fired. What Linux does not tell has no conversion. */
typedef int chipid_t;
typedef int lgrp_id_t;
typedef int psetid_t;
typedef struct cpuinfo {
	processorid_t cpu_id;
	psetid_t cpu_pset;
	chipid_t cpu_chip;
	lgrp_id_t cpu_lgrp;
} cpuinfo_t;

struct dvm_current_cpu { char unused; };

translator cpuinfo_t < struct dvm_current_cpu C > {
	cpu_id = cpu;
};

inline cpuinfo_t *curcpu = xlate <cpuinfo_t *> (*(struct dvm_current_cpu *)NULL);
