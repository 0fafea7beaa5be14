pid$target:a.out:D_PROC_OFF:fffff { trace(1); }
