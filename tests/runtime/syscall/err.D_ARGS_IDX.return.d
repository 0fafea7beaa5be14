/* needs: uprobes */
syscall::write:return { trace(args[2]); }
