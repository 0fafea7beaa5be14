#pragma D option quiet

BEGIN { lines = 0; }

replay:::firing /lines == 0/ { printf("%5s %8s %-16s %6s\n", "CPU", "PID", "COMM", "SIZE"); lines = 20; }
replay:::firing { printf("%5d %8d %-16s %6d\n", cpu, pid, execname, arg1); lines--; }
