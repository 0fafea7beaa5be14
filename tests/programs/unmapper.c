// Takes away memory that it has not mapped, as programs do that walk through their own mappings.
//
//   unmapper WAY   waits for a line, then calls func() 1000 times before and after it has done this with each anonymous mapping
//   of code and each one whose name has "dvm-agent":
//     unmap protect discard move cover   munmap(2), mprotect(2), madvise(2), mremap(2), mmap(2) over it
//     raw                                munmap(2) by syscall(2)
//     turn attach inform vector          remap_file_pages(2), shmat(2) over it, posix_madvise(3), process_madvise(2)
//     bulk                               process_madvise(2) by syscall(2)
//     own                                munmap(2) by a system call instruction of its own
//     lines                              nothing, but prints "calls" now and then until its input ends
#define _GNU_SOURCE
#include <stdio.h>
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

static void attach(struct range one) {
  const int id = shmget(IPC_PRIVATE, one.bytes, IPC_CREAT | 0600);
  shmat(id, one.begin, SHM_REMAP);
  shmctl(id, IPC_RMID, NULL);
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

static void take_away(const char* way, struct range one) {
  void* other = MAP_FAILED;
  switch (way[0]) {
    case 'u':
      munmap(one.begin, one.bytes);
      break;
    case 'p':
      mprotect(one.begin, one.bytes, PROT_NONE);
      break;
    case 'd':
      madvise(one.begin, one.bytes, MADV_DONTNEED);
      break;
    case 'm':
      other = mremap(one.begin, one.bytes, one.bytes + 4096, MREMAP_MAYMOVE);
      break;
    case 'c':
      mmap(one.begin, one.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      break;
    case 'r':
      syscall(SYS_munmap, one.begin, one.bytes);
      break;
    case 't':
      remap_file_pages(one.begin, 4096, 0, 1, 0);
      break;
    case 'a':
      attach(one);
      break;
    case 'i':
      posix_madvise(one.begin, one.bytes, MADV_DONTFORK);
      break;
    case 'v':
    case 'b':
      advise(one, way[0] == 'b');
      break;
    case 'o':
      __asm__ volatile("syscall" : "=a"(other) : "a"(SYS_munmap), "D"(one.begin), "S"(one.bytes) : "rcx", "r11", "memory");
      break;
  }
  __asm__ volatile("" : : "r"(other));
}

int main(int argc, char** argv) {
  struct range found[kMost];
  const char* way = argc > 1 ? argv[1] : "unmap";
  puts("ready");
  fflush(stdout);
  int c = getchar();
  const int calls = way[0] == 'l' ? 0 : call();
  for (; way[0] == 'l' && c != EOF; c = getchar()) printf("calls %d\n", call()), fflush(stdout);
  const int count = way[0] == 'l' ? 0 : find(found);
  for (int i = 0; i < count; i++) take_away(way, found[i]);
  printf("took %d, calls %d\n", count, calls + call());
  return 0;
}
