pid0:a.out:D_PROC_BADPID:entry { trace(1); }
