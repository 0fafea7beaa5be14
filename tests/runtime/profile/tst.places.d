/* profile-N interrupts the kernel (arg0) or a process (arg1), and never both.
 * run: -q
 * needs: uprobes
 */
profile-997
{
	@wrong["in both or in neither"] = sum((arg0 != 0) == (arg1 != 0));
	@wrong["not at that rate"] = sum(probename != "profile-997");
}

profile-997
/++fired == 200/
{
	exit(0);
}
