#!/usr/bin/env -S dvm run -s
/*
 * memleak: memory that was allocated while tracing and not freed, by the stack that allocated it
 *
 *   -m           $1 = 0                Also follow mmap and munmap
 *   -t TOP       $2 = 20 [1..1000000]  Print this many stacks of each table
 *   -d SECONDS   $3 = 0                Stop after this time; 0: at Ctrl-C or when the program ends
 *
 * The tool prints the stacks with most live bytes, then those with most live blocks, with up to 30 frames each. The largest are last. It follows
 * malloc, calloc, realloc, reallocarray, aligned_alloc, memalign, posix_memalign, valloc, pvalloc and free of libc. new of libstdc++ calls malloc or
 * aligned_alloc. Other allocators are not followed. With -m, a mapping is live until munmap is called with its address.
 *
 * posix_memalign writes the address of its block to memory, which the program may change before dvm reads it. glibc leaves the address in %rdx as
 * well, and the tool reads it there. A last line warns if neither the memory nor a call of free has confirmed such an address, or if blocks are
 * missing.
 *
 * Rows of @bytes: stack bytes
 * Rows of @blocks: stack blocks
 * Needs: pid$target:libc*:malloc:entry pid$target:libc*:malloc:return pid$target:libc*:free:entry
 */
#pragma D option quiet
#pragma D option aggskipzero
#pragma D option dynvarsize=256m
/* calloc leaves by a jump to memset, so only its return address tells the result. No exception passes these functions. */
#pragma D option return=uretprobe

/* Of a live block: its bytes and one more, and where it was asked for. */
dtrace:::BEGIN
{
	live[(uint64_t)0] = (uint64_t)0;
	stack_of[(uint64_t)0] = ustack(30);
	stack_of[(uint64_t)0] = 0;
}

/* Functions that call others of these, or have two names, count once. */
pid$target:libc*:malloc:entry,
pid$target:libc*:valloc:entry,
pid$target:libc*:pvalloc:entry
/!self->inside/
{
	self->bytes = (uint64_t)arg0;
}

pid$target:libc*:calloc:entry
/!self->inside/
{
	self->bytes = (uint64_t)arg0 * (uint64_t)arg1;
}

pid$target:libc*:realloc:entry,
pid$target:libc*:aligned_alloc:entry,
pid$target:libc*:memalign:entry
/!self->inside/
{
	self->bytes = (uint64_t)arg1;
}

pid$target:libc*:reallocarray:entry
/!self->inside/
{
	self->bytes = (uint64_t)arg1 * (uint64_t)arg2;
}

pid$target:libc*:posix_memalign:entry
/!self->inside/
{
	self->bytes = (uint64_t)arg2;
	self->alignment = (uint64_t)arg1;
	self->place = (uint64_t *)arg0;
}

pid$target:libc*:mmap:entry
/!self->inside && $1 != 0/
{
	self->bytes = (uint64_t)arg1;
	self->is_mapping = 1;
}

/* The block that realloc gives back is free before it returns, since another thread may get it at once. */
pid$target:libc*:realloc:entry,
pid$target:libc*:reallocarray:entry
/!self->inside && live[(uint64_t)arg0] != 0/
{
	self->old = (uint64_t)arg0;
	self->old_bytes = live[(uint64_t)arg0];
	self->old_stack = stack_of[(uint64_t)arg0];
	@bytes[stack_of[(uint64_t)arg0]] = sum(1 - (int64_t)live[(uint64_t)arg0]);
	@blocks[stack_of[(uint64_t)arg0]] = sum(-1);
	live[(uint64_t)arg0] = 0;
	stack_of[(uint64_t)arg0] = 0;
}

pid$target:libc*:malloc:entry,
pid$target:libc*:calloc:entry,
pid$target:libc*:realloc:entry,
pid$target:libc*:reallocarray:entry,
pid$target:libc*:aligned_alloc:entry,
pid$target:libc*:memalign:entry,
pid$target:libc*:posix_memalign:entry,
pid$target:libc*:valloc:entry,
pid$target:libc*:pvalloc:entry
/!self->inside/
{
	self->inside = 1;
	self->stack = ustack(30);
}

pid$target:libc*:mmap:entry
/!self->inside && $1 != 0/
{
	self->inside = 1;
	self->stack = ustack(30);
}

/* realloc has failed: the old block is still there. */
pid$target:libc*:realloc:return,
pid$target:libc*:reallocarray:return
/self->inside && self->old != 0 && arg1 == 0 && self->bytes != 0/
{
	live[self->old] = self->old_bytes;
	stack_of[self->old] = self->old_stack;
	@bytes[self->old_stack] = sum((int64_t)self->old_bytes - 1);
	@blocks[self->old_stack] = sum(1);
}

pid$target:libc*:malloc:return,
pid$target:libc*:calloc:return,
pid$target:libc*:realloc:return,
pid$target:libc*:reallocarray:return,
pid$target:libc*:aligned_alloc:return,
pid$target:libc*:memalign:return,
pid$target:libc*:valloc:return,
pid$target:libc*:pvalloc:return
/self->inside && !self->is_mapping && arg1 != 0/
{
	live[(uint64_t)arg1] = self->bytes + 1;
	stack_of[(uint64_t)arg1] = self->stack;
	@bytes[self->stack] = sum((int64_t)self->bytes);
	@blocks[self->stack] = sum(1);
}

pid$target:libc*:posix_memalign:return
/self->place && (int)arg1 == 0/
{
	this->block = uregs[R_RDX];
	this->is_found = this->block != 0 && this->block % self->alignment == 0;
	missing += !this->is_found;
	unconfirmed += this->is_found;
}

pid$target:libc*:posix_memalign:return
/self->place && (int)arg1 == 0 && this->is_found/
{
	live[this->block] = self->bytes + 1;
	stack_of[this->block] = self->stack;
	@bytes[self->stack] = sum((int64_t)self->bytes);
	@blocks[self->stack] = sum(1);
}

/* Memory may hold the block of this call by now, or that of a later one. */
pid$target:libc*:posix_memalign:return
/self->place && (int)arg1 == 0 && this->is_found && !is_confirmed/
{
	in_register[this->block] = 1;
	in_memory[*self->place] = 1;
	is_confirmed = in_memory[this->block];
}

pid$target:libc*:free:entry
/!is_confirmed && in_register[(uint64_t)arg0]/
{
	is_confirmed = 1;
}

pid$target:libc*:mmap:return
/self->is_mapping && arg1 != -1/
{
	live[(uint64_t)arg1] = self->bytes + 1;
	stack_of[(uint64_t)arg1] = self->stack;
	@bytes[self->stack] = sum((int64_t)self->bytes);
	@blocks[self->stack] = sum(1);
}

pid$target:libc*:malloc:return,
pid$target:libc*:calloc:return,
pid$target:libc*:realloc:return,
pid$target:libc*:reallocarray:return,
pid$target:libc*:aligned_alloc:return,
pid$target:libc*:memalign:return,
pid$target:libc*:posix_memalign:return,
pid$target:libc*:valloc:return,
pid$target:libc*:pvalloc:return
/self->inside && !self->is_mapping/
{
	self->inside = 0;
	self->place = 0;
	self->bytes = 0;
	self->stack = 0;
	self->old = 0;
	self->old_bytes = 0;
	self->old_stack = 0;
}

pid$target:libc*:mmap:return
/self->is_mapping/
{
	self->inside = 0;
	self->is_mapping = 0;
	self->bytes = 0;
	self->stack = 0;
}

pid$target:libc*:free:entry
/live[(uint64_t)arg0] != 0/
{
	@bytes[stack_of[(uint64_t)arg0]] = sum(1 - (int64_t)live[(uint64_t)arg0]);
	@blocks[stack_of[(uint64_t)arg0]] = sum(-1);
	live[(uint64_t)arg0] = 0;
	stack_of[(uint64_t)arg0] = 0;
}

pid$target:libc*:munmap:entry
/$1 != 0 && !self->inside && live[(uint64_t)arg0] != 0/
{
	@bytes[stack_of[(uint64_t)arg0]] = sum(1 - (int64_t)live[(uint64_t)arg0]);
	@blocks[stack_of[(uint64_t)arg0]] = sum(-1);
	live[(uint64_t)arg0] = 0;
	stack_of[(uint64_t)arg0] = 0;
}

tick-1s
/$3 > 0 && ++seconds >= $3/
{
	exit(0);
}

dtrace:::END
{
	trunc(@bytes, $2);
	printf("LIVE BYTES BY STACK\n");
	printa("%k%@16d bytes\n", @bytes);
	trunc(@blocks, $2);
	printf("\nLIVE BLOCKS BY STACK\n");
	printa("%k%@16d blocks\n", @blocks);
}

dtrace:::END
/unconfirmed != 0 && !is_confirmed/
{
	printf("\n%d blocks of posix_memalign have addresses that nothing has confirmed\n", unconfirmed);
}

dtrace:::END
/missing != 0/
{
	printf("\n%d blocks of posix_memalign are missing\n", missing);
}
