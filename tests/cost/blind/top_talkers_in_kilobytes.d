replay:::firing { @sent[execname, pid, tid] = sum(arg1); }

END
{
	trunc(@sent, 10);
	normalize(@sent, 1024);
	printa("%-16s %6d %6d %@8d KB\n", @sent);
}
