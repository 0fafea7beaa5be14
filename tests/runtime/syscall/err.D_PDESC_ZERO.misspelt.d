/* needs: uprobes */
syscall::raed:entry { trace(arg0); }
