replay:::firing
{
	@[probefunc, arg1 < 8 ? "tiny" : arg1 < 16 ? "small" : arg1 < 32 ? "medium" :
	    arg1 < 64 ? "large" : arg1 < 128 ? "huge" : "enormous"] = count();
}
