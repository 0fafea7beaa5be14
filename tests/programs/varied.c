// Calls functions of many kinds, always the same ones in the same order: "varied ROUNDS [THREADS [LIBRARY]]". Each of the THREADS
// (standard 1) makes ROUNDS rounds (standard 50). In some it raises a signal with a handler, forks a child, which makes a call,
// or opens the LIBRARY and calls its function. With "storm" for a LIBRARY, a timer interrupts the threads all the time: ROUNDS of
// its signals call functions, the others do nothing. Prints the sum of all results.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef DVM_HAS_SDT
#include <sys/sdt.h>
#else
#define STAP_PROBE2(...)
#endif

#define FUNCTION __attribute__((noinline))
struct pair {
  long first;
  int second;
  char name[12];
};
static volatile long sink;
static long rounds = 50;
static const char* library;

FUNCTION long number(long a, int b, unsigned short c) {
  sink = a;
  sink = b;
  sink = c;
  return a * 3 - b + c;
}
// A pointer that leads nowhere is not followed.
FUNCTION int text(const char* words, long n) {
  sink = n;
  sink = n;
  return (unsigned long)words < 4096 ? -1 : (int)strlen(words);
}
FUNCTION long look(const struct pair* pair) {
  sink = pair->first;
  sink = pair->second;
  return pair->first + pair->second;
}
FUNCTION long nest(long depth) {
  const long below = depth > 0 ? nest(depth - 1) : 0;
  sink = below;
  sink = depth;
  return below + 1;
}
FUNCTION char ways(long n) {
  sink = n;
  if (n == 0) return 7;
  sink = n;
  if (n == 1) return -7;
  sink = n;
  return (char)n;
}
FUNCTION void pass(long n, const char* words) {
  sink = n;
  STAP_PROBE2(varied, passed, n, words);
  sink = n;
}
FUNCTION void handle(int signal) {
  sink = signal;
  sink = number(signal, -1, 65535);
}

static long strikes;  // that are still to come
static void strike(int signal) {
  const long n = __atomic_fetch_sub(&strikes, 1, __ATOMIC_RELAXED);
  if (n > 0) sink = number(n * 7, signal, (unsigned short)n) + text("of a handler", n) + nest(n % 3) + ways(n % 4);
}
static void set_timer(long microseconds) {
  const struct itimerval often = {{0, microseconds}, {0, microseconds}};
  signal(SIGALRM, strike);
  setitimer(ITIMER_REAL, &often, NULL);
}

static void fork_one(long n) {
  const pid_t pid = fork();
  if (pid == 0) {
    number(n, 1, 1);
    _exit(0);
  }
  while (pid > 0 && waitpid(pid, NULL, 0) != pid) {
  }
}

static int load(int n) {
  void* handle = dlopen(library, RTLD_NOW);
  if (!handle) exit(2);
  int (*function)(int) = (int (*)(int))dlsym(handle, "late_function");
  for (int i = 0; i < 3; i++) sink = function(n);
  return 1;
}

static const char* const kWords[] = {
    "one", "two words",
    "",    "tab\tand\"quote",
    NULL,  "a text that is much longer than the others: it fills lines, and a small strsize cuts it off"};

static void* run(void* unused) {
  long sum = 0;
  for (long i = 0; i < rounds; i++) {
    const struct pair pair = {i * i, (int)-i, {(char)('a' + i % 26), (char)('z' - i % 3)}};
    const char* words = kWords[i % 6];
    sum += number(i * 1000003, (int)(i % 7) - 3, (unsigned short)(i * 4099)) + number(-i, (int)i, 9);
    sum += text(words, i) + look(&pair) + nest(i % 5) + ways(i % 4);
    pass(i, words);
    if (i % 10 == 3) raise(SIGUSR1);
    if (i % 20 == 7) fork_one(i);
    if (i % 25 == 11 && library) sum += load((int)i);
  }
  __atomic_fetch_add((long*)unused, sum, __ATOMIC_RELAXED);
  return NULL;
}

int main(int argc, char** argv) {
  const long threads = argc > 2 ? atol(argv[2]) : 1;
  if (argc > 1) rounds = atol(argv[1]);
  const int is_storm = argc > 3 && strcmp(argv[3], "storm") == 0;
  if (argc > 3 && !is_storm) library = argv[3];
  signal(SIGUSR1, handle);
  if (is_storm) strikes = rounds, set_timer(50);
  long sum = 0;
  pthread_t ids[16];
  for (long i = 1; i < threads && i < 16; i++) pthread_create(&ids[i], NULL, run, &sum);
  run(&sum);
  for (long i = 1; i < threads && i < 16; i++) pthread_join(ids[i], NULL);
  while (__atomic_load_n(&strikes, __ATOMIC_RELAXED) > 0) pause();
  set_timer(0);
  printf("sum %ld\n", sum);
  return 0;
}
