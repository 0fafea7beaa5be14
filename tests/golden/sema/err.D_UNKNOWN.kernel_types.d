BEGIN { this->t = (kthread_t *)arg0; }
BEGIN { this->u = (proc_t *)arg0; }
BEGIN { this->v = sizeof (vnode_t); trace(sizeof (unknown_t *)); }
BEGIN { trace(((struct task_struct *)arg0)->pid); }
