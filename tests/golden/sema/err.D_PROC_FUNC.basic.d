pid$target:a.out:D_PROC_FUNC:entry { trace(1); }
