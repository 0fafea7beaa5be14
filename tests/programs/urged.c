// A thread that waits in a system call and gets SIGURG all the time, while another one gives it what it waits for: "urged
// ROUNDS". With a second argument it gets SIGURG twice after a line of input, and what it waits for after another line.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ends[2], rounds;
static atomic_int taken, taker, urged;

// Its first instruction is the system call.
long take(int from, char* to, long size);
__asm__(".text\n.type take, @function\ntake: syscall\nret\n.size take, . - take");

static void* take_all(void* unused) {
  atomic_store(&taker, (int)syscall(SYS_gettid));
  while (atomic_load(&taken) < rounds) {
    char byte;
    long got;
    __asm__ volatile("xorl %%eax, %%eax; call take" : "=a"(got) : "D"(ends[0]), "S"(&byte), "d"(1L) : "rcx", "r11", "memory");
    if (got == 1) atomic_fetch_add(&taken, 1);
  }
  return unused;
}

static void urge_taker(void) { syscall(SYS_tgkill, getpid(), atomic_load(&taker), SIGURG); }

static void* urge(void* unused) {
  while (atomic_load(&taken) < rounds)
    if (atomic_load(&taker) != 0) urge_taker();
  return unused;
}

static void ignore(int signal) { atomic_store(&urged, signal); }

// The second signal comes when the thread makes its call again, behind the handler of the first one.
static void urge_twice(void) {
  enum { SOON = 20000, OFTEN = 10000000 };
  for (long i = 0; atomic_load(&urged) == 0; i++)  // one may be lost that comes beside that of a breakpoint
    if (i % OFTEN == 0) urge_taker();
  for (volatile int i = 0; i < SOON; i++) continue;
  urge_taker();
}

__attribute__((noinline)) void give(void) {
  if (write(ends[1], "x", 1) != 1) exit(1);
}

int main(int argc, char** argv) {
  rounds = argc > 1 ? atoi(argv[1]) : 1;
  const int is_told = argc > 2;
  setlinebuf(stdout);
  struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
  sigaction(SIGURG, &action, NULL);
  pthread_t taking, urging;
  if (pipe(ends) != 0 || pthread_create(&taking, NULL, take_all, NULL) != 0) return 1;
  if (!is_told && pthread_create(&urging, NULL, urge, NULL) != 0) return 1;
  if (is_told) puts("ready"), getchar(), urge_twice(), puts("urged"), getchar();
  for (int i = 0; i < rounds; i++) {
    give();
    while (atomic_load(&taken) <= i) usleep(100);
  }
  pthread_join(taking, NULL);
  if (!is_told) pthread_join(urging, NULL);
  printf("%d taken\n", atomic_load(&taken));
  return 0;
}
