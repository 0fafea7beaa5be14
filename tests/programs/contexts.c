// Comes back to places that it has left: setjmp, getcontext, vfork, and the loader's lazy binding.
#include <setjmp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static jmp_buf place;

static void leap(int value) { longjmp(place, value); }

static int by_jumps(void) {
  volatile int sum = 0;
  for (volatile int i = 1; i < 5; i++) {
    const int came = setjmp(place);
    if (came == 0) leap(i);
    sum += came;
  }
  return sum;
}

static int by_contexts(void) {
  ucontext_t context;
  volatile int times = 0;
  getcontext(&context);
  if (times++ < 3) setcontext(&context);
  return times;
}

static int by_processes(void) {
  const pid_t child = vfork();
  if (child == 0) _exit(7);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int main(void) {
  printf("%d %d %d\n", by_jumps(), by_contexts(), by_processes());
  return 0;
}
