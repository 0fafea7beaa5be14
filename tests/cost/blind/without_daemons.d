replay:::firing
/execname != "sshd" && execname != "cron" && execname != "systemd" && pid != $pid/
{
	@[execname] = count();
}
