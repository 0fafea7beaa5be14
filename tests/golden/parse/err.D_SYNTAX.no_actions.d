BEGIN /pid/
