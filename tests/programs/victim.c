// Is stopped, signalled and written to. It passes the effects to report(), and ends by itself.
//
//   victim ROUNDS WAIT   each round calls step() and then waits so many ms for a change that comes from outside
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t signals;
static volatile char word[16] = "before";

static void count(int number) { signals += number == SIGUSR1; }

static uint64_t cpu_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) void step(int round, volatile char* text) { __asm__ volatile("" : : "r"(round), "r"(text) : "memory"); }
__attribute__((noinline)) void begin(uint64_t cpu) { __asm__ volatile("" : : "r"(cpu) : "memory"); }
__attribute__((noinline)) void end(uint64_t cpu) { __asm__ volatile("" : : "r"(cpu) : "memory"); }
// Bytes that cannot be read, or not all, or not written, as their names say.
__attribute__((noinline)) void look(const char* unmapped, const char* half, const char* no_nul, const char* kernel,
                                    char* constant) {
  __asm__ volatile("" : : "r"(unmapped), "r"(half), "r"(no_nul), "r"(kernel), "r"(constant) : "memory");
}

__attribute__((noinline)) void report(int count, volatile char* text) {
  __asm__ volatile("" : : "r"(count), "r"(text) : "memory");
}

static void wait_for_a_change(int most, int known) {
  for (int i = 0; i < most && signals == known && word[0] == 'b'; i++) usleep(1000);
}

static void show_bad_memory(void) {
  const size_t page = 4096;
  char* pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 'x', 2 * page);
  mprotect(pages + 2 * page, page, PROT_NONE);
  char* constant = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  look((char*)16, pages + 2 * page - 4, pages, (char*)0xffffffff81000000u, constant);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  const int wait = argc > 2 ? atoi(argv[2]) : 0;
  signal(SIGUSR1, count);
  show_bad_memory();
  for (int i = 0; i < rounds; i++) {
    const int known = signals;
    begin(cpu_time());
    for (volatile int spin = 0; spin < 20000; spin++) continue;
    end(cpu_time());
    step(i, word);
    wait_for_a_change(wait, known);
  }
  report(signals, word);
  return 0;
}
