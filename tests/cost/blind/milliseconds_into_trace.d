uint64_t began;

replay:::firing /!began/ { began = timestamp; }
replay:::firing { @ms = lquantize((timestamp - began) / 1000000, 0, 1000, 50); }
