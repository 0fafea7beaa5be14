// Loads what backtrace() needs once a line is read, and prints "loaded". Behind another line the handler of a timer takes so many backtraces out of a function that is
// called again and again, and counts those that lack a caller. It prints "ready" before all.

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

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

int main(int count, char** arguments) {
  const long wanted = count > 1 ? atol(arguments[1]) : 100;
  const struct itimerval every = {{0, 1000}, {0, 1000}};
  void* first[2];
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  backtrace(first, 2);
  puts("loaded");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  signal(SIGPROF, sample);
  setitimer(ITIMER_PROF, &every, NULL);
  while (taken < wanted) called(1);
  printf("cut %ld\n", cut);
  return 0;
}
