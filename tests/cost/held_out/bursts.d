/* How many firings fall into a window of a millisecond */
uint64_t window, in_window;

replay:::firing
/timestamp / 1000000 != window/
{
	@burst["firings per ms"] = lquantize(in_window, 0, 2000, 100);
	window = timestamp / 1000000;
	in_window = 0;
}

replay:::firing { in_window++; }
