BEGIN { printf("%-12s %6s %6s %18s %8s %s\n", "PROGRAM", "PID", "TID", "ADDRESS", "SIZE", "FLAGS"); }

replay:::firing
{
	printf("%-12s %6d %6d %#18x %8u %c%c\n", execname, pid, tid, arg0, arg1,
	    arg1 & 1 ? 'o' : '-', arg1 & 2 ? 'w' : '-');
}
