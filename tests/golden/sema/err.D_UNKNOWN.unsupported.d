BEGIN { stop(); trace(curthread); trace(mutex_owned(0)); }
