/* Types and constants of the kernel, by the name that it has here or in Solaris.
 * needs: uprobes
 */
#pragma D option quiet

struct holds {
	char one;
	struct vmlinux`timespec64 time;
	int two;
};

vmlinux`pid_t child;
struct vmlinux`list_head head;

BEGIN {
	printf("%d %d %d %d\n", sizeof (struct vmlinux`list_head), offsetof(struct vmlinux`list_head, prev), sizeof (vmlinux`pid_t),
	    sizeof (struct genunix`list_head));
	printf("%d %d\n", sizeof (struct vmlinux`task_struct) > 1024, sizeof (((struct vmlinux`task_struct *)0)->comm));
	printf("%d %d\n", offsetof(struct holds, two), sizeof (struct holds));
	printf("%d %d\n", vmlinux`PIDTYPE_SID, unix`PIDTYPE_SID == vmlinux`PIDTYPE_SID);
	child = 5;
	print(child);
	head.next = (struct vmlinux`list_head *)16;
	print(head);
	print((enum vmlinux`pid_type)vmlinux`PIDTYPE_PGID);
	this->times = (struct vmlinux`timespec64 *)alloca(32);
	this->times[1].tv_nsec = 3;
	print(this->times[1]);
	exit(0);
}
