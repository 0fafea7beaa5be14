/* Positions before and behind a string, tokens, bases: as the documentation of DTrace says, and for index() and rindex() as Perl. */
#pragma D option quiet
BEGIN
{
	s = "abcabc";
	most = 2147483647;
	printf("[%s] [%s] [%s] [%s] [%s]\n", substr(s, -2), substr(s, -10, 6), substr(s, 4, 100), substr(s, 6), substr(s, 1, -1));
	printf("%d %d %d %d %d\n", index(s, "c"), index(s, "c", 3), index(s, "c", 99), index(s, "", 99), index(s, "a", -5));
	printf("%d %d %d %d %d\n", rindex(s, "c"), rindex(s, "c", 4), rindex(s, "c", 99), rindex(s, "", -1), rindex(s, "a", -1));
	printf("%d %d %d\n", index("", ""), rindex("", ""), index("", "x"));
	printf("[%s] [%s] [%s]\n", strchr(s, 'b'), strrchr(s, 'b'), strstr(s, "ca"));
	printf("%d %d %d\n", strchr(s, 'z') == NULL, strstr(s, "z") == NULL, strrchr(s, 'z') == NULL);
	printf("%s %s %s %s %s\n", lltostr(-17), lltostr(255, 16), lltostr(8, 8), lltostr(0, 16), lltostr(35, 36));
	printf("%d %d %d %d %d\n", strtoll("  -12x"), strtoll("ff", 16), strtoll("0x1F", 16), strtoll("z", 36), strtoll("12", 2));
	printf("[%s] %d %d %d\n", substr(s, 4294967297), index(s, "a", 4294967296), rindex(s, "c", 4294967296), strtoll(lltostr(most + 1)));
	printf("%x %x %s\n", htons(0x51234), htonl(most + most + 3), strchr(s, 'b' + 256));
}
BEGIN { printf("[%s]", strtok(",,a,b;c", ",")); printf("[%s]", strtok(NULL, ",;")); }
BEGIN { printf("[%s]", strtok(NULL, ";")); printf("%d\n", strtok(NULL, ";") == NULL); }
BEGIN { trace(lltostr(1, 1)); printf("not reached\n"); }
BEGIN { trace(strtoll("1", 37)); printf("not reached\n"); }
BEGIN { exit(0); }
ERROR { printf("fault %d\n", arg4); }
