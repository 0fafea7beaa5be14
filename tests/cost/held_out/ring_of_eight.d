int ring[int];
int at, sum8;

replay:::firing
{
	sum8 -= ring[at];
	ring[at] = arg1;
	sum8 += ring[at];
	at = (at + 1) & 7;
	@mean8 = max(sum8 >> 3);
}
