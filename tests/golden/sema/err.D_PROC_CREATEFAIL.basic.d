pid$target:a.out:D_PROC_CREATEFAIL:5 { trace(1); }
