#pragma D option quiet

replay:::firing { @share[arg1 / 10 > 9 ? 9 : arg1 / 10] = count(); @all = count(); total++; }
END { normalize(@share, 10); printa("%d: %@d\n", @share); printf("of %d\n", total); }
