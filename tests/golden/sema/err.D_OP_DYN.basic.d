BEGIN { @a = count(); x = pid ? @a : 1; y = (@a, 2); }
