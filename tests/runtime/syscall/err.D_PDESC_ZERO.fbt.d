/* needs: uprobes */
fbt::vfs_read:entry { trace(arg0); }
