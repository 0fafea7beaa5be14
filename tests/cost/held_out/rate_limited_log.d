uint64_t printed;
int skipped;

replay:::firing
/timestamp - printed < 10000000/
{
	skipped++;
}

replay:::firing
/timestamp - printed >= 10000000/
{
	printf("%s[%d]: %d, and %d more\n", execname, pid, arg1, skipped);
	printed = timestamp;
	skipped = 0;
}
