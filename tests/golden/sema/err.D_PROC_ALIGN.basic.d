pid$target:a.out:D_PROC_ALIGN:5 { trace(1); }
