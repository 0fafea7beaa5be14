replay:::firing { printf("%-14d %3d %-16s\n", timestamp / 1000, cpu, execname); }
