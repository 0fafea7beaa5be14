/*
 * print() of what is no structure: type and value in a line of its own.
 */
#pragma D option quiet

enum color { RED, GREEN = 7 };

BEGIN
{
	print(10);
	print((short)-2);
	print('A');
	print((char)0);
	print("a string");
	print((void *)0x10);
	print((char *)0x20);
	print(GREEN);
	print((enum color)2);
	print(probename);
	print((uint64_t)-1);
	exit(0);
}
