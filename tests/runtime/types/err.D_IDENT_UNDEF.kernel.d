/* Data of the kernel are not visible, and not everything is a type of it. */
BEGIN { trace(vmlinux`jiffies); trace(sizeof (struct genunix`no_such_type)); }
