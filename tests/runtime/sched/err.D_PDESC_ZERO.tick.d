/* needs: uprobes */
sched:::tick { @ = count(); }
