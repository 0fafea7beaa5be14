// Takes away memory that it has not mapped, as programs do that walk through their own mappings.
//
//   unmapper WAY   waits for a line, then calls func() 1000 times before and after it has done this with each anonymous mapping
//   of code and each one whose name has "dvm-agent":
//     unmap protect discard move cover   munmap(2), mprotect(2), madvise(2), mremap(2), mmap(2) over it
//     raw                                munmap(2) by syscall(2)
//     own                                munmap(2) by a system call instruction of its own
//     lines                              nothing, but prints "calls" now and then until its input ends
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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
