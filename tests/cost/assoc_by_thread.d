replay:::firing { last[tid] = timestamp; }
