BEGIN { @one["x", 1] = count(); @two["x", "y"] = count(); printa(@one, @two); }
