BEGIN {
	x = 1
	y = 2;
}
END { trace(; }
tick-1s { trace(1); }
