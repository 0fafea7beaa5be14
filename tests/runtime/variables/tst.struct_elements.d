/* A part of a structure is stored where no element, or no variable of the thread, was yet: the rest of it is zeros. */
#pragma D option quiet

struct place { short line; char columns[3]; int wide : 5; };
struct pending { uint64_t when; int size; struct place place; };
struct pending requests[int, string];
self struct pending mine;
self struct pending of_thread[int];
int i;

BEGIN
{
	requests[3, "a"].when = 5;
	requests[3, "a"].size += 2;
	requests[4, "a"].size++;
	requests[5, "b"].place.columns[1] = 7;
	requests[5, "b"].place.wide = 9;
	self->mine.place.line = 11;
	self->of_thread[1].size = 13;
	requests[i++, "c"].when = 17;
}

BEGIN
{
	printf("%d %d\n", requests[3, "a"].when, requests[3, "a"].size);
	printf("%d %d\n", requests[4, "a"].when, requests[4, "a"].size);
	printf("%d %d %d %d\n", requests[5, "b"].size, requests[5, "b"].place.columns[0], requests[5, "b"].place.columns[1],
	    requests[5, "b"].place.wide);
	printf("%d %d\n", self->mine.size, self->mine.place.line);
	printf("%d %d\n", self->of_thread[1].size, self->of_thread[2].size);
	printf("%d %d %d\n", i, requests[0, "c"].when, requests[1, "c"].when);
	printf("%d\n", requests[6, "d"].size);  /* only read */
	requests[3, "a"] = requests[6, "d"];
	printf("%d\n", requests[3, "a"].when);
	exit(0);
}
