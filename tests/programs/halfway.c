// Is interrupted behind the first instruction of munmap(), a function of its own, until it reads a line. Then it calls func()
// 1000 times before and after it has unmapped what dvm has mapped, and calls mmap() again. It prints "ready" before, and the calls.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { kCalls = 1000, kMost = 64, kStep = 0x100, kPage = 4096 };

__attribute__((noinline)) int func(int a) {
  __asm__ volatile("" ::: "memory");
  return a + 1;
}

__attribute__((noinline)) static int call(void) {
  int calls = 0;
  for (int i = 0; i < kCalls; i++) calls = func(calls);
  return calls;
}

// Only a distance says where it is interrupted: an address would keep agents away.
extern const volatile unsigned char distance;
asm(".globl munmap, distance\n.type munmap, @function\nmunmap: nop\n nop\n mov $11, %eax\n syscall\n ret\n"
    ".size munmap, . - munmap\n.section .rodata\ndistance: .byte 1\n.text\n");

static void handle(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  if (registers[REG_RIP] != (greg_t)munmap + distance) return;
  registers[REG_EFL] &= ~kStep;
  puts("ready");
  fflush(stdout);
  getchar();
}

static int unmap_others(void) {
  unsigned long found[kMost][2];
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  for (char line[512]; maps && count < kMost && fgets(line, sizeof line, maps);) {
    unsigned long begin, end, inode;
    char access[8];
    if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &begin, &end, access, &inode) != 4) continue;
    const int is_code = access[2] == 'x' && inode == 0 && !strchr(line, '[');
    if (is_code || strstr(line, "dvm-agent")) found[count][0] = begin, found[count++][1] = end;
  }
  if (maps) fclose(maps);
  for (int i = 0; i < count; i++) munmap((void*)found[i][0], found[i][1] - found[i][0]);
  return count;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  void* page = mmap(NULL, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  asm volatile("pushfq\n orl $0x100, (%%rsp)\n popfq" ::: "memory", "cc");
  munmap(page, kPage);
  int calls = call();
  const int taken = unmap_others();
  mmap(NULL, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  calls += call();
  printf("took %d, calls %d\n", taken, calls);
  return 0;
}
