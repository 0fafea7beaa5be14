replay:::firing { @calls[probeprov, probename, cpu] = count(); }
