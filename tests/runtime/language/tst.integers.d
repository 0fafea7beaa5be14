/* Integer types wrap, promote and convert as in C; every value is printed with the type it was given. */
#pragma D option quiet

int8_t i8;
uint8_t u8;
int16_t i16;
uint32_t u32;
int64_t i64;

BEGIN
{
	i8 = 127; i8++;
	u8 = 0; u8 -= 1;
	i16 = 32767; i16 += 2;
	u32 = 1 << 31; u32 <<= 1;
	i64 = 1; i64 <<= 63;
	printf("%d %d %d %u %d\n", i8, u8, i16, u32, i64);
	printf("%d %d %d\n", -9 / 4, -9 % 4, 9 % -4);
	printf("%d %d\n", -1 < 0u, (int64_t)-1 < 0u);
	printf("%d %d %d\n", 0x10, 010, 1 ? -2 : 3u);
	printf("%d %d %d %d\n", !5, ~0, - -3, +4);
	printf("%x %x\n", 0xf0 | 0x0f & 0x3c ^ 1, (0xff00 >> 4) << 2);
	printf("%d %d %d\n", 1 && 0 || 1, 1 ^^ 1, 2 == 2 != 1);
	exit(0);
}
