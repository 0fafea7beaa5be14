replay:::firing
/strstr(tolower(execname), "py") != NULL || strlen(execname) < 12/
{
	@[toupper(execname)] = count();
}
