// Leaves a handler of SIGALRM by siglongjmp() so many times, each time out of calls of a function. Then it calls that 1000 times
// more, undisturbed. With another argument the handler, of a signal from elsewhere, never ends.

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile long leapt, sink;
static int stays;

__attribute__((noinline)) void called(long round) { sink += round; }

static void handle(int signal) {
  (void)signal;
  while (stays) pause();
  leapt++;
  siglongjmp(back, 1);
}

int main(int count, char** arguments) {
  const long leaps = count > 1 ? atol(arguments[1]) : 100;
  stays = count > 2;
  signal(SIGALRM, handle);
  sigsetjmp(back, 1);
  const struct itimerval once = {{0, 0}, {0, leapt < leaps && !stays ? 500 : 0}};
  setitimer(ITIMER_REAL, &once, NULL);
  while (leapt < leaps) called(1);
  for (int i = 0; i < 1000; i++) called(2);
  puts("done");
  fflush(stdout);
  return 0;
}
