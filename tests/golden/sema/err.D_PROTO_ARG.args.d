/* @program */
pid1:a.out:visit:entry { trace(args[arg1]); trace(args["x"]); }
