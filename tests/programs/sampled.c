// Loads what backtrace() needs once a line is read, and prints "loaded". Behind another line the handler of a timer takes so many backtraces out of a function that is
// called again and again, and counts those that lack a caller. It prints "ready" before all. With another argument, a thread calls
// that function, too. The handler of SIGUSR1 holds it until the samples have been taken; then it goes on.

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

extern char __executable_start, etext;
static volatile long sink, taken, cut;

__attribute__((noinline)) void called(long value) {
  sink = value;
  sink = sink + 1;
}

static void sample(int signal) {
  (void)signal;
  void* frames[32];
  const int count = backtrace(frames, 32);
  int own = 0;
  for (int i = 0; i < count; i++) own += (char*)frames[i] > &__executable_start && (char*)frames[i] < &etext;
  taken++;
  cut += own < 3;  // this one, called(), main()
}

static volatile long calls, is_released;
static void hold(int signal) {
  (void)signal;
  while (!is_released) usleep(1000);
}

static void* call(void* unused) {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  while (1) called(1), calls++;
  return unused;
}

static void start_thread(void) {
  pthread_t thread;
  sigset_t held;
  signal(SIGUSR1, hold);
  pthread_create(&thread, NULL, call, NULL);
  sigemptyset(&held);
  sigaddset(&held, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &held, NULL);
}

static void release_thread(void) {
  const long before = calls;
  is_released = 1;
  while (calls < before + 2) usleep(1000);
}

int main(int count, char** arguments) {
  const long wanted = count > 1 ? atol(arguments[1]) : 100;
  const struct itimerval every = {{0, 1000}, {0, 1000}};
  void* first[2];
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  backtrace(first, 2);
  if (count > 2) start_thread();
  puts("loaded");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  signal(SIGPROF, sample);
  setitimer(ITIMER_PROF, &every, NULL);
  while (taken < wanted) called(1);
  if (count > 2) release_thread();
  printf("cut %ld\n", cut);
  return 0;
}
