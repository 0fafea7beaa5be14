#!/usr/bin/env -S dvm run -s
/*
 * memleak: memory that was allocated while tracing and not freed, by the code that asked for it
 *
 *   -s           $1 = 0                Also print the stacks of all allocations, with their bytes, freed or not
 *   -t TOP       $2 = 20 [1..1000000]  Print this many rows of each table
 *   -d SECONDS   $3 = 0                Stop after this time; 0: at Ctrl-C or when the program ends
 *
 * The callers with most live bytes, then those with most live blocks, each with the depth of its stack. Allocations of one caller at
 * different depths are told apart; -s shows the stacks, each under its depth and caller. Follows malloc, calloc, realloc and free of libc.
 *
 * Rows of @bytes: depth caller bytes
 * Rows of @blocks: depth caller blocks
 * Rows of @stacks: depth caller stack bytes
 * Needs: pid$target:libc*:malloc:entry pid$target:libc*:free:entry
 */
#pragma D option quiet
#pragma D option dynvarsize=64m
/* calloc leaves by a jump to memset, so only its return address tells the result. No exception passes these functions. */
#pragma D option return=uretprobe

dtrace:::BEGIN
{
	size[(uint64_t)0] = (uint64_t)0;
	site[(uint64_t)0] = (uint64_t)0;
	depth[(uint64_t)0] = (uint64_t)0;
}

pid$target:libc*:malloc:entry,
pid$target:libc*:calloc:entry,
pid$target:libc*:realloc:entry
/self->size == 0/
{
	self->size = (uint64_t)(probefunc == "malloc" ? arg0 : probefunc == "calloc" ? arg0 * arg1 : arg1);
	self->old = (uint64_t)(probefunc == "realloc" ? arg0 : 0);
	self->site = (uint64_t)ucaller;
	self->depth = (uint64_t)ustackdepth;
}

pid$target:libc*:malloc:entry,
pid$target:libc*:calloc:entry,
pid$target:libc*:realloc:entry
/$1 != 0 && self->size != 0/
{
	@stacks[self->depth, self->site, ustack()] = sum((int64_t)self->size);
}

pid$target:libc*:malloc:return,
pid$target:libc*:calloc:return,
pid$target:libc*:realloc:return
/self->size != 0 && arg1 != 0 && self->old != 0 && size[self->old] != 0/
{
	@bytes[depth[self->old], site[self->old]] = sum(-(int64_t)size[self->old]);
	@blocks[depth[self->old], site[self->old]] = sum(-1);
	size[self->old] = 0;
	site[self->old] = 0;
	depth[self->old] = 0;
}

pid$target:libc*:malloc:return,
pid$target:libc*:calloc:return,
pid$target:libc*:realloc:return
/self->size != 0 && arg1 != 0/
{
	size[(uint64_t)arg1] = self->size;
	site[(uint64_t)arg1] = self->site;
	depth[(uint64_t)arg1] = self->depth;
	@bytes[self->depth, self->site] = sum((int64_t)self->size);
	@blocks[self->depth, self->site] = sum(1);
}

pid$target:libc*:malloc:return,
pid$target:libc*:calloc:return,
pid$target:libc*:realloc:return
{
	self->size = 0;
	self->old = 0;
	self->site = 0;
	self->depth = 0;
}

pid$target:libc*:free:entry
/size[(uint64_t)arg0] != 0/
{
	@bytes[depth[(uint64_t)arg0], site[(uint64_t)arg0]] = sum(-(int64_t)size[(uint64_t)arg0]);
	@blocks[depth[(uint64_t)arg0], site[(uint64_t)arg0]] = sum(-1);
	size[(uint64_t)arg0] = 0;
	site[(uint64_t)arg0] = 0;
	depth[(uint64_t)arg0] = 0;
}

tick-1s
/$3 > 0 && ++seconds >= $3/
{
	exit(0);
}

dtrace:::END
{
	trunc(@bytes, $2);
	printf("%5s %12s  %s\n", "DEPTH", "BYTES", "CALLER");
	printa("%5d %@12d  %A\n", @bytes);
	trunc(@blocks, $2);
	printf("\n%5s %12s  %s\n", "DEPTH", "BLOCKS", "CALLER");
	printa("%5d %@12d  %A\n", @blocks);
	trunc(@stacks, $2);
	printa("\ndepth %d, %A: %@d bytes%k", @stacks);
}
