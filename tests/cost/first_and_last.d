uint64_t first[int];
replay:::firing /first[pid] == 0/ { first[pid] = timestamp; }
replay:::firing { last[pid] = timestamp; @ = max(timestamp - first[pid]); }
