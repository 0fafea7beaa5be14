pid$target:nosuch:D_PROC_LIB:entry { trace(1); }
