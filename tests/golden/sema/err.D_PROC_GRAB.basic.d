pid1::D_PROC_GRAB:entry { }
