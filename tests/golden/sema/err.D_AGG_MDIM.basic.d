BEGIN { @a[1][2] = count(); }
BEGIN { @a[1]["x"]; }
