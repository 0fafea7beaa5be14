// A thread whose signal handler runs on an alternate stack above the thread's own. The handler interrupts functions of the
// thread: one that calls others, and one that calls none. Prints how often the handler was called, and a sum of the results of
// all.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kStackBytes = 256 * 1024, kRounds = 50, kPause = 50 };

static char* both_stacks;
static volatile int asked, handled;
static volatile unsigned long sum;

__attribute__((noinline)) unsigned long take(unsigned long value) {
  sum += value;
  return sum * 31;
}

__attribute__((noinline)) unsigned long handle(unsigned long value) { return take(value) + (unsigned long)handled++; }
static void on_signal(int number) { handle((unsigned long)number); }

__attribute__((noinline)) unsigned long caller(unsigned long value) {
  raise(SIGUSR1);
  return take(value) + 1;
}

__attribute__((noinline)) unsigned long leaf(int before) {
  asked = before + 1;
  while (handled == before) {
  }
  return (unsigned long)before;
}

static void* work(void* unused) {
  const stack_t above = {.ss_sp = both_stacks + kStackBytes, .ss_size = kStackBytes};
  sigaltstack(&above, NULL);
  for (unsigned long i = 0; i < kRounds; i++) {
    caller(i);
    leaf(handled);
  }
  return unused;
}

int main(void) {
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  both_stacks = aligned_alloc(4096, 2 * kStackBytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, both_stacks, kStackBytes);
  pthread_t thread;
  pthread_create(&thread, &attributes, work, NULL);
  for (int i = 2; i <= 2 * kRounds; i += 2) {
    while (asked != i) usleep(kPause);
    pthread_kill(thread, SIGUSR1);
  }
  pthread_join(thread, NULL);
  printf("%d %lu\n", handled, sum);
  return 0;
}
