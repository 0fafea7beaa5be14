// Calls bottom() with frame pointers of all kinds, on the stack of the first thread (kind 1), of another one (2), and on one that
// ends with its mapping (3): first through functions that keep frame pointers, then with N values that lead nowhere (20, standard
// 10,000). The program has a handler of SIGSEGV and SIGBUS, which it never needs; it prints how often that was called.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, NOWHERE = 20 };
static volatile sig_atomic_t handled;
static long wrong = 10000;

__attribute__((noinline)) int bottom(int kind) {
  __asm__ volatile("" ::: "memory");
  return kind + 1;
}
__attribute__((noinline)) int middle(int kind) { return bottom(kind) + 1; }
__attribute__((noinline)) int top(int kind) { return middle(kind) + 1; }
__attribute__((noinline)) int deep(int n) { return n < 100 ? bottom(n) + 1 : deep(n - 100) + 1; }

// Calls a function with the frame pointer, and a number.
int enter(int (*function)(int), const void* frame, int number);
__asm__(
    ".pushsection .text\n.globl enter\n.type enter, @function\nenter:\n"
    "push %rbp\nmov %rdi, %rax\nmov %rsi, %rbp\nmov %edx, %edi\ncall *%rax\npop %rbp\nret\n"
    ".size enter, .-enter\n.popsection\n");

static void handle(int number) {
  handled++;
  (void)number;
  _exit(3);
}

static char* map(int protection) { return mmap(NULL, PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

static void enter_wrong(int kind) {
  uintptr_t frames[8] = {0};
  char* page = map(PROT_READ | PROT_WRITE);
  const uintptr_t here = (uintptr_t)frames, nowhere = (uintptr_t)map(PROT_NONE);
  const uintptr_t all[] = {1,
                           8,
                           here + 1,
                           here + 4,
                           here - 65536,
                           here + 65536,
                           here + (1 << 20),
                           nowhere,
                           nowhere - 8,
                           nowhere + PAGE - 8,
                           (uintptr_t)page,
                           (uintptr_t)page + PAGE - 8,
                           (uintptr_t)-1,
                           (uintptr_t)-8,
                           (uintptr_t)-16,
                           0x7ffffffff000 - 8,
                           0x7ffffffff000,
                           UINT64_C(1) << 63};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) enter(bottom, (void*)all[i], kind);
  frames[0] = here;  // leads to itself
  enter(bottom, frames, kind);
  frames[4] = here, frames[0] = here + 32;  // a circle
  enter(bottom, frames, kind);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) frames[0] = all[i], enter(bottom, frames, kind);
  munmap(page, PAGE);
  munmap((void*)nowhere, PAGE);
}

static void enter_all(int kind) {
  enter(top, NULL, kind);
  enter(middle, NULL, kind);
  for (int n = 1; n < 4; n++) enter(deep, NULL, 100 * n * n + kind);
  enter_wrong(NOWHERE);
}

static void enter_nowhere(void) {
  uint64_t random = 88172645463325252;
  for (long i = 0; i < wrong; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    const uintptr_t here = (uintptr_t)&random;
    enter(bottom,
          (void*)(i % 4 == 0   ? random
                  : i % 4 == 1 ? random & 0x7fffffffffff
                  : i % 4 == 2 ? here + (random & 0xfffff8)
                               : (here & ~UINT64_C(7)) + (random & 0xff8)),
          NOWHERE);
  }
}

static void* run_thread(void* unused) {
  enter_all(2);
  enter_nowhere();
  return unused;
}

static ucontext_t back, other;
static void run_context(void) { enter_all(3); }

int main(int argc, char** argv) {
  const struct sigaction action = {.sa_handler = handle};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  if (argc > 1) wrong = atol(argv[1]);
  enter_all(1);
  enter_nowhere();
  pthread_t thread;
  pthread_create(&thread, NULL, run_thread, NULL);
  pthread_join(thread, NULL);
  char* stack = mmap(NULL, 17 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(stack + 16 * PAGE, PAGE);
  getcontext(&other);
  other.uc_stack.ss_sp = stack, other.uc_stack.ss_size = 16 * PAGE, other.uc_link = &back;
  makecontext(&other, run_context, 0);
  swapcontext(&back, &other);
  printf("%d faults\n", (int)handled);
  return 0;
}
