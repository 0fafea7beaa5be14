BEGIN { @a = sum("text"); }
