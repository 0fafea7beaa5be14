BEGIN { warm = 200; }
replay:::firing /warm > 0/ { warm--; }
replay:::firing /warm == 0/ { @steady = avg(arg1); @spread = stddev(arg1); }
