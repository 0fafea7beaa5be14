// Calls a function so many times, while signals come whose handler calls it as well. Prints how many calls that were in all.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile long sink, handled;

__attribute__((noinline)) void called(long number) { sink = number; }

static void handle(int signal) {
  called(signal);
  handled++;
}

int main(int count, char** arguments) {
  const long calls = count > 1 ? atol(arguments[1]) : 1000000;
  const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, handle);
  setitimer(ITIMER_REAL, &often, NULL);
  for (long i = 0; i < calls; i++) called(i);
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%ld calls, %ld of them in handlers\n", calls + handled, handled);
  return 0;
}
