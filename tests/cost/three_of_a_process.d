replay:::firing { @calls[pid] = count(); @bytes[pid] = sum(arg1); @sizes[pid] = quantize(arg1); }
