inline int BLOCK = 16;

replay:::firing { @blocks = sum((arg1 + BLOCK - 1) / BLOCK); @waste = avg((BLOCK - arg1 % BLOCK) % BLOCK); }
