replay:::firing { @calls[probeprov, probename, pid] = count(); }
