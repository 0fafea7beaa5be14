/* What DTrace tells of the kernel, of zones and of system calls has one value at a probe in a process, and in dvm's own. */
#pragma D option quiet
BEGIN { printf("%d %d %d %s %d\n", caller, stackdepth, ipl, zonename, errno); stack(); exit(0); }
