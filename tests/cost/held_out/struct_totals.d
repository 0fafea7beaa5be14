#pragma D option quiet

struct totals {
	uint64_t calls;
	uint64_t bytes;
	uint32_t odd;
	int last;
};
struct totals all;

replay:::firing { all.calls++; all.bytes += arg1; all.last = (int)arg1; }
replay:::firing /arg1 & 1/ { all.odd++; }
END { printf("%d calls, %d bytes, %d odd, last %d\n", all.calls, all.bytes, all.odd, all.last); }
