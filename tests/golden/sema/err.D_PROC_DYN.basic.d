pid1::D_PROC_DYN:entry { }
