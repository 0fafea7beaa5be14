/* Strings compare as a whole and join; subroutines take literals, variables and each other's results. */
#pragma D option quiet

string s;

BEGIN
{
	s = "path/to/file.c";
	this->t = strjoin(basename(s), strjoin("-", lltostr(strlen(s))));
	printf("%s %s\n", s, this->t);
	printf("%d %d %d\n", s == "path/to/file.c", s < "path/zz", this->t != s);
	printf("[%s] [%s] [%s]\n", substr(s, 5), substr(s, -6, 4), substr(s, 0, 4));
	printf("[%s] %d\n", strstr(s, "to"), strstr(s, "from") == NULL);
	printf("%s\n", s == "" ? "empty" : "full");
	exit(0);
}
