BEGIN /pid != 0 && probename == "BEGIN" || !tid/ { trace(1); }
END /arg0 == 0/ { }
