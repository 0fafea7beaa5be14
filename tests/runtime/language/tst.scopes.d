/* Globals last, clause-locals reach the next clause of the same firing, associative arrays tell their keys apart. */
#pragma D option quiet

int seen[string, int];

BEGIN { this->a = 3; total = 0; self->mine = 7; }
BEGIN { total += this->a; printf("%d %d %d\n", this->a, total, self->mine); }
BEGIN
{
	seen["x", 1] = 5;
	seen["x", 2]++;
	seen["y", 1] += 4;
	names["one"] = "first";
	printf("%d %d %d %d [%s] [%s]\n", seen["x", 1], seen["x", 2], seen["y", 1], seen["y", 2], names["one"], names["two"]);
	seen["x", 1] = 0;
	printf("%d\n", seen["x", 1]);
	exit(0);
}
