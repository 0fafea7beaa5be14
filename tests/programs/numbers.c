// Children that all have one process id, one after the other, each 0.8 s after the end of the one before. Each calls mark(i)
// twice. With an argument they are that program instead, which is executed. Prints why if there are none.
#define _GNU_SOURCE
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kChildren = 3, kPause = 800000 };

__attribute__((noinline)) void mark(long value) { __asm__ volatile("" : "+r"(value)::"memory"); }

static pid_t fork_as(pid_t number) {
  struct clone_args wanted;
  memset(&wanted, 0, sizeof wanted);
  wanted.exit_signal = SIGCHLD;
  if (number != 0) wanted.set_tid = (uintptr_t)&number, wanted.set_tid_size = 1;
  return (pid_t)syscall(SYS_clone3, &wanted, sizeof wanted);
}

static void run(long value) {
  mark(value);
  syscall(SYS_getppid);
  mark(value);
  _exit(0);
}

int main(int argc, char** argv) {
  pid_t number = 0;
  for (int i = 0; i < kChildren; i++) {
    const pid_t child = fork_as(number);
    if (child < 0) return perror("clone3"), 1;
    if (child == 0) {
      if (argc > i + 1) execl(argv[i + 1], argv[i + 1], (char*)0);
      run(i);
    }
    number = child;
    waitpid(child, NULL, 0);
    usleep(kPause);
  }
  return 0;
}
