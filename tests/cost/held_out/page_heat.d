#pragma D option quiet

replay:::firing { @pages[(arg0 >> 12) & 0x1f] = count(); }
END { printa("page %4x  %@8d\n", @pages); }
