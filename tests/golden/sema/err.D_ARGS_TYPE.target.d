/* @program */
pid1:a.out:visit:entry { trace(args[2]); }
pid1:a.out:lost:entry { trace(args[0]); }
