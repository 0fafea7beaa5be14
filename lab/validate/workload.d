/* The marker of the workload, as the header that dvm makes of this. */
provider workload { probe marker(int, void *); };
