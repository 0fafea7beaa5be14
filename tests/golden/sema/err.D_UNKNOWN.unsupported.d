BEGIN { stop(); trace(curthread); trace(args[0]); trace(mutex_owned(0)); }
