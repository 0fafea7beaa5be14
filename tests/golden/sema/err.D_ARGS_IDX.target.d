/* @program */
pid1:a.out:visit:entry { trace(args[4]); }
BEGIN { trace(args[0]); }
BEGIN { trace(args[0] + args[0]); }
BEGIN { trace(args[3]); }
pid1:a.out:visit:entry { trace(args[-1]); }
