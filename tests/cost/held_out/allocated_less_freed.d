replay:::firing { @net[execname, tid] = sum((arg1 & 1) ? (int64_t)arg1 : -(int64_t)arg1); }
