/* fds[] describes the files of the process that fires, which sleeps meanwhile.
 * run: -q -c '/bin/sh -c "exec 7</dev/null; exec sleep 60"'
 * needs: uprobes
 */
syscall::clock_nanosleep:entry
/pid == $target/
{
	printf("%s %s %s %d %d\n", fds[7].fi_pathname, fds[7].fi_name, fds[7].fi_dirname, fds[7].fi_offset, fds[7].fi_oflags & O_ACCMODE);
	printf("%s %s\n", fds[7].fi_fs == "<none>" ? "no file system" : "a file system", fds[7].fi_mount == "<none>" ? "no mount" : "a mount");
	printf("%s %s %s %d %d\n", fds[999].fi_pathname, fds[999].fi_name, fds[999].fi_dirname, fds[999].fi_offset, fds[999].fi_oflags);
	printf("%s\n", fds[arg0 - 1].fi_name);
	printf("%s %d %s\n", fds[-1].fi_pathname, fds[-1].fi_offset, fds[-2147483648].fi_fs);
	exit(0);
}
