// Takes away memory that it has not mapped, as programs do that walk through their own mappings.
//
//   unmapper WAY   waits for a line, then calls func() 1000 times before and after it has done this with each anonymous mapping
//   of code and each one whose name has "dvm-agent":
//     mmap munmap ...     takes it away by this function of the C library; shmat() and mmap() map over it
//     raw bulk            munmap(2) and process_madvise(2) by syscall(2)
//     own                 munmap(2) by a system call instruction of its own
//     lines               nothing, but maps and unmaps a page and prints "calls" now and then until its input ends
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kCalls = 1000, kMost = 64 };

struct range {
  char* begin;
  size_t bytes;
};

__attribute__((noinline)) int func(int a) {
  __asm__ volatile("" ::: "memory");
  return a + 1;
}

static int call(void) {
  int calls = 0;
  for (int i = 0; i < kCalls; i++) calls = func(calls);
  return calls;
}

// Says why none can be mapped and unmapped.
static void use_page(void) {
  enum { kPage = 4096 };
  char* page = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || munmap(page, kPage) != 0) perror("page"), exit(1);
}

static int find(struct range* found) {
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  for (char line[512]; maps && count < kMost && fgets(line, sizeof line, maps);) {
    unsigned long begin, end, inode;
    char access[8];
    if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &begin, &end, access, &inode) != 4) continue;
    const int is_code = access[2] == 'x' && inode == 0 && !strchr(line, '[');
    if (is_code || strstr(line, "dvm-agent")) found[count++] = (struct range){(char*)begin, end - begin};
  }
  if (maps) fclose(maps);
  return count;
}

static void by_munmap(struct range one) { munmap(one.begin, one.bytes); }
static void by_mprotect(struct range one) { mprotect(one.begin, one.bytes, PROT_NONE); }
static void by_pkey_mprotect(struct range one) { pkey_mprotect(one.begin, one.bytes, PROT_NONE, 0); }
static void by_madvise(struct range one) { madvise(one.begin, one.bytes, MADV_DONTNEED); }
static void by_posix_madvise(struct range one) { posix_madvise(one.begin, one.bytes, MADV_DONTFORK); }
static void by_remap_file_pages(struct range one) { remap_file_pages(one.begin, 4096, 0, 1, 0); }
static void by_raw(struct range one) { syscall(SYS_munmap, one.begin, one.bytes); }

static void by_mremap(struct range one) {
  void* other = mremap(one.begin, one.bytes, one.bytes + 4096, MREMAP_MAYMOVE);
  __asm__ volatile("" : : "r"(other));
}

static void by_mmap(struct range one) {
  void* other = mmap(one.begin, one.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  __asm__ volatile("" : : "r"(other));
}

static void by_shmat(struct range one) {
  const int id = shmget(IPC_PRIVATE, one.bytes, IPC_CREAT | 0600);
  shmat(id, one.begin, SHM_REMAP);
  shmctl(id, IPC_RMID, NULL);
}

static void by_own(struct range one) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_munmap), "D"(one.begin), "S"(one.bytes) : "rcx", "r11", "memory");
}

// The second of two ranges is the one.
static void advise(struct range one, int by_number) {
  static char own[8192];
  const struct iovec both[] = {{own, sizeof own}, {one.begin, one.bytes}};
  const int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (by_number)
    syscall(SYS_process_madvise, self, both, 2L, (long)MADV_DONTNEED, 0L);
  else
    process_madvise(self, both, 2, MADV_DONTNEED, 0);
  close(self);
}

static void by_process_madvise(struct range one) { advise(one, 0); }
static void by_bulk(struct range one) { advise(one, 1); }

static const struct {
  const char* name;
  void (*take_away)(struct range one);
} ways[] = {
#define WAY(name) \
  { #name, by_##name }
    WAY(mmap),          WAY(munmap),          WAY(mprotect),         WAY(pkey_mprotect), WAY(mremap), WAY(madvise),
    WAY(posix_madvise), WAY(process_madvise), WAY(remap_file_pages), WAY(shmat),         WAY(raw),    WAY(bulk),
    WAY(own),
#undef WAY
};

static void take_away(const char* way, struct range one) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (strcmp(ways[i].name, way) == 0) ways[i].take_away(one);
}

int main(int argc, char** argv) {
  struct range found[kMost];
  const char* way = argc > 1 ? argv[1] : "munmap";
  const int reads_lines = strcmp(way, "lines") == 0;
  puts("ready");
  fflush(stdout);
  int c = getchar();
  const int calls = reads_lines ? 0 : call();
  for (; reads_lines && c != EOF; c = getchar()) use_page(), printf("calls %d\n", call()), fflush(stdout);
  const int count = reads_lines ? 0 : find(found);
  for (int i = 0; i < count; i++) take_away(way, found[i]);
  printf("took %d, calls %d\n", count, calls + call());
  return 0;
}
