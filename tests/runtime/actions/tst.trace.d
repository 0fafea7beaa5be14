/* Every width of integer and a string, each in its column. */
BEGIN
{
	trace((int8_t)-1); trace((uint8_t)255); trace((int16_t)-2); trace(-3); trace((int64_t)-4); trace("text"); trace('c');
}
BEGIN { exit(0); }
