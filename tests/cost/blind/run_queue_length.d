int queued[int];

replay:::firing /arg1 & 1/ { queued[cpu]++; }
replay:::firing /!(arg1 & 1) && queued[cpu] > 0/ { queued[cpu]--; }
replay:::firing { @length[cpu] = lquantize(queued[cpu], 0, 64, 2); }
