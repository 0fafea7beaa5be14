BEGIN { trace("Ã¤ÿ"); }
END { }