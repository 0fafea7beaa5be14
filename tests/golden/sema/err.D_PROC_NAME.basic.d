pid$target:a.out:D_PROC_NAME:entri { trace(1); }
