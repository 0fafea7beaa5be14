replay:::firing
{
	printf("%-16s %s%s%s%s\n", execname,
	    (arg1 & 3) == 0 ? "RDONLY" : (arg1 & 3) == 1 ? "WRONLY" : "RDWR",
	    arg1 & 0x08 ? "|APPEND" : "", arg1 & 0x20 ? "|TRUNC" : "",
	    arg1 & 0x40 ? "|CREAT" : "");
}
