BEGIN { panic(); trace(curthread); trace(mutex_owned(0)); }
