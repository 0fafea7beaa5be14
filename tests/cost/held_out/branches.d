replay:::firing
{
	if (arg1 > 90) {
		printf("%s: large %d\n", probefunc, arg1);
		@large = count();
	} else if (arg1 & 1) {
		@odd[tid] = sum(arg1);
	} else {
		even++;
	}
}
END { printf("%d even\n", even); }
