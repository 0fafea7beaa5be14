#pragma D option quiet

BEGIN { printf("Tracing... Hit Ctrl-C to end.\n"); }
replay:::firing { @ops[execname] = count(); @bytes[execname] = sum(arg1); @biggest[execname] = max(arg1); }
END
{
	normalize(@bytes, 1024);
	printf("%-16s %8s %8s %8s\n", "COMM", "OPS", "KB", "BIGGEST");
	printa("%-16s %@8d %@8d %@8d\n", @ops, @bytes, @biggest);
}
