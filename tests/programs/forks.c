// "forks N [wait]" calls work(0) and forks N children one after the other. The k-th child calls work(k) k times and forks one
// more, which calls work(100) and, if k is even, dies by a signal. With "wait" it first waits for a line on its input. "forks
// exec PROGRAM ARGUMENTS" does the same for one child, which executes another program after vfork(). All processes wait for
// their children, except in "forks orphan", where the child waits until its parent has gone, then calls work(7).
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int which, const char *name) {
  __asm__ volatile("" : : "r"(name) : "memory");
  return which + 1;
}

static void await(pid_t pid) {
  if (pid < 0) exit(2);
  while (waitpid(pid, NULL, 0) != pid) {
  }
}

static void grandchild(int dies) {
  work(100, "grandchild");
  if (dies) raise(SIGKILL);
  _exit(0);
}

static void child(int which) {
  for (int i = 0; i < which; i++) work(which, "child");
  const pid_t pid = fork();
  if (pid == 0) grandchild(which % 2 == 0);
  await(pid);
  _exit(0);
}

static void run(char **words) {
  const pid_t pid = vfork();
  if (pid == 0) {
    execv(words[0], words);
    _exit(3);
  }
  await(pid);
}

static void orphan(pid_t parent) {
  while (getppid() == parent) usleep(1000);
  work(7, "orphan");
  _exit(0);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  if (argc > 2 && strcmp(argv[argc - 1], "wait") == 0) {
    printf("ready\n");
    fflush(stdout);
    (void)getchar();
  }
  work(0, "parent");
  if (strcmp(argv[1], "exec") == 0) {
    run(argv + 2);
    return 0;
  }
  const pid_t self = getpid();
  if (strcmp(argv[1], "orphan") == 0 && fork() == 0) orphan(self);
  for (int which = 1; which <= atoi(argv[1]); which++) {
    const pid_t pid = fork();
    if (pid == 0) child(which);
    await(pid);
  }
  return 0;
}
