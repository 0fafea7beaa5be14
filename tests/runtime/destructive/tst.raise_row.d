/* A clause whose only action is raise() prints its row.
 * run: -w -c /bin/true
 * needs: uprobes
 */
syscall::exit_group:entry /pid == $target/ { raise(18); }
