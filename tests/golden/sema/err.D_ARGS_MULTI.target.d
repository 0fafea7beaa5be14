/* @program */
pid1:a.out:*:entry { trace(args[0]); }
pid1:a.out:visit:entry, pid1:a.out:find:entry { trace(args[0]); }
pid1:a.out:visit:entry, pid1:a.out:visit:entry { trace(args[0]->value); }
