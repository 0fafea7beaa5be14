/* @program */
BEGIN { trace(a.out`bare); trace(&a.out`bare); }
